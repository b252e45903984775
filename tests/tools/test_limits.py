"""Time limits: work that does not end is stopped in words, and what was set before is as it was."""

from __future__ import annotations

import signal
import threading
import time

import pytest
from click.testing import CliRunner

from fedtheory.command_line.main import main
from fedtheory.core.errors import NotAvailable, TimeLimitReached
from fedtheory.tools.limits import interrupt_after, limit_time

needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")


def for_ever() -> None:
    while True:
        pass


@needs_timers
def test_work_that_never_ends_is_stopped_and_the_alarm_is_put_back() -> None:
    before, begun = signal.getsignal(signal.SIGALRM), time.perf_counter()
    with pytest.raises(TimeLimitReached, match=r"it was not done within the time limit of 0\.02 s"), limit_time(0.02):
        for_ever()
    assert 0.02 <= time.perf_counter() - begun < 10
    assert signal.getsignal(signal.SIGALRM) is before and signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@needs_timers
def test_what_is_done_in_time_leaves_no_alarm_behind() -> None:
    with limit_time(100):
        left, again = signal.getitimer(signal.ITIMER_REAL)
        assert 90 < left <= 100 and again == 1, "raised every second, for code that catches it"
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with limit_time(None):
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_thread_has_no_alarm_and_is_told_so() -> None:
    said: list[object] = []

    def limited() -> None:
        try:
            with limit_time(1):
                said.append("ran")
        except NotAvailable as error:
            said.append(str(error))

    thread = threading.Thread(target=limited)
    thread.start()
    thread.join()
    assert said == ["a time limit needs the main thread of a local process and a system with timers"]


@needs_timers
def test_a_command_is_interrupted_once_and_may_take_its_time_to_leave() -> None:
    with pytest.raises(KeyboardInterrupt, match=r"the time limit of 0\.02 s is over"), interrupt_after(0.02):
        try:
            for_ever()
        finally:
            assert signal.getitimer(signal.ITIMER_REAL) == (0, 0), "what is written at the end is not interrupted again"


@needs_timers
def test_every_command_that_may_take_long_has_a_time_limit() -> None:
    short = {"list", "devices", "new"}
    assert {
        name for name, command in main.commands.items() if "time_limit" not in {p.name for p in command.params}
    } == short
    done = CliRunner().invoke(
        main, ["run", "fedavg", "quadratics", "--rounds", "10000000", "--every", "100000", "--time-limit", "0.5"]
    )
    assert done.exit_code == 130 and "interrupted; nothing is kept of a run without --results" in done.output
