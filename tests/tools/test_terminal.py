"""Progress bars: on standard error, none where that is no terminal."""

from __future__ import annotations

import sys

import pytest

from fedtheory.tools import terminal
from fedtheory.tools.terminal import show_progress


def test_a_bar_is_there_before_the_first_item_is_done(monkeypatch, capsys) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # to rich, a terminal
    with show_progress("checking", 3, done=1, shown=True):
        assert "1/3" in capsys.readouterr().err


def test_a_bar_counts_and_names_what_is_done(capsys) -> None:
    with show_progress("checking", 3, done=1, shown=True) as advance:
        advance("FEDPD-T1")
        advance("FEDPD-T2")
    found = capsys.readouterr()
    assert "checking, last FEDPD-T2" in found.err and "3/3" in found.err and found.out == ""


@pytest.mark.parametrize("options", [{}, {"shown": False}, {"shown": True, "late": True}])
def test_no_bar_without_a_terminal_nor_when_it_is_refused_nor_before_its_time(options, capsys) -> None:
    assert not sys.stderr.isatty()
    with show_progress("rounds", 2, **options) as advance:
        advance()
        advance()
    assert capsys.readouterr() == ("", "")


def test_a_late_bar_counts_what_was_done_before_it_appeared(monkeypatch, capsys) -> None:
    monkeypatch.setattr(terminal, "LATE_SECONDS", 0.05)
    with show_progress("rounds", 3, late=True, shown=True) as advance:
        advance()
        terminal.time.sleep(0.1)
        advance()
    assert "2/3" in capsys.readouterr().err


def test_an_error_leaves_no_bar_behind(capsys) -> None:
    with pytest.raises(KeyboardInterrupt), show_progress("checking", 2, shown=True) as advance:
        advance("a")
        raise KeyboardInterrupt
    with show_progress("checking", 2, shown=True):
        pass  # rich refuses a second bar while there is one
