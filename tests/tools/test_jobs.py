"""Jobs: what is kept, what goes on when one fails, the same on one worker, several, and a dask scheduler."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import job_tasks
import pytest
from click.testing import CliRunner

from fedtheory.command_line.main import main
from fedtheory.core.errors import JobsStopped, NotAvailable
from fedtheory.tools import jobs
from fedtheory.tools.jobs import Outcome, run_jobs
from fedtheory.tools.journal import Journal


def squares(count=6, **options):
    return {o.key: o.value for o in run_jobs(job_tasks.square, {str(k): (k,) for k in range(count)}, **options)}


def calls(folder):
    """Arguments of the calls there were, and the processes that made them."""
    lines = (Path(folder) / "calls").read_text().split()
    return sorted(map(int, lines[::2])), set(map(int, lines[1::2]))


# ---- local workers ------------------------------------------------------------------------------------------------


def test_one_worker_is_this_process_and_several_are_others(tmp_path) -> None:
    assert squares() == squares(workers=2) == {str(k): {"x": k, "square": k * k} for k in range(6)}
    for workers in (1, 2):
        list(run_jobs(job_tasks.note, {str(k): (str(tmp_path), k) for k in range(4)}, workers=workers))
        done, processes = calls(tmp_path)
        assert done == [0, 1, 2, 3] and (os.getpid() in processes) is (workers == 1)
        (tmp_path / "calls").unlink()


def test_a_system_that_cannot_hold_signals_back_runs_jobs_all_the_same(monkeypatch) -> None:
    monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    assert squares(workers=2) == squares()


def test_no_jobs_are_done_at_once() -> None:
    assert squares(0) == {} and squares(0, scheduler="tcp://nowhere:1") == {}


def test_functions_without_a_module_reach_the_workers() -> None:
    """Nothing is looked up in the main module, which a worker does not have."""
    factor = 3
    found = run_jobs(lambda x: factor * x, {"a": (1,), "b": (2,)}, workers=2)
    assert {o.key: o.value for o in found} == {"a": 3, "b": 6}


def test_local_workers_have_one_blas_thread_each(monkeypatch) -> None:
    pytest.importorskip("threadpoolctl", reason="threadpoolctl is not installed")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    found = [set(o.value) for o in run_jobs(job_tasks.blas_threads, {"a": (1,), "b": (2,)}, workers=2)]
    assert found == [{1}, {1}]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_raises_is_an_error_and_the_others_go_on(workers) -> None:
    found = {o.key: o for o in run_jobs(job_tasks.one_is_bad, {str(k): (k,) for k in range(5)}, workers=workers)}
    assert [found[k].value for k in "034"] == [0, 3, 4] and all(found[k].error is None for k in "034")
    line = (
        Path(job_tasks.__file__).read_text().splitlines().index('        raise ZeroDivisionError("one over nothing")')
    )
    assert found["1"].error == f"ZeroDivisionError in job_tasks.py, line {line + 1}: one over nothing"
    assert "SystemExit" in found["2"].error and "bye" in found["2"].error


def test_arguments_that_cannot_be_sent_are_no_matter_of_a_worker() -> None:
    with pytest.raises(TypeError, match="pickle"):
        list(run_jobs(job_tasks.square, {"a": (threading.Lock(),)}, workers=2))


def test_a_killed_local_worker_stops_the_jobs_and_what_is_done_is_kept(tmp_path) -> None:
    journal = Journal("killed", 0, folder=tmp_path / "journals")
    jobs = {str(k): (str(tmp_path), k) for k in range(8)}
    with pytest.raises(JobsStopped, match=r"a worker process was killed.*results so far are kept"):
        list(run_jobs(job_tasks.dies_once, jobs, workers=2, journal=journal))
    done = journal.read()
    assert "3" not in done
    again = {o.key: o for o in run_jobs(job_tasks.dies_once, jobs, workers=2, journal=journal)}
    assert {k: o.value for k, o in again.items()} == {str(k): k * k for k in range(8)}
    assert {k for k, o in again.items() if o.kept} == set(done)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system cannot hold signals back")
def test_local_workers_hold_ctrl_c_and_sigterm_back_from_their_first_moment() -> None:
    """In a process of its own: once loky's helpers run, their start can no more let Ctrl-C through to the workers."""
    code = (
        "import job_tasks, signal; from fedtheory.tools.jobs import run_jobs\n"
        "print([o.value for o in run_jobs(job_tasks.held_back, {str(k): (k,) for k in range(4)}, workers=2)])\n"
        "print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    )
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "tests" / "support")])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout.splitlines() == [str([["SIGINT", "SIGTERM"]] * 4), "set()"], "free again here"


@pytest.mark.skipif(os.name == "nt", reason="a process cannot send Ctrl-C to one other alone")
def test_ctrl_c_leaves_no_thread_that_failed(monkeypatch) -> None:
    """Loky before 3.7 still looked for the jobs that waited in its queue, and its thread died of it."""
    failed: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda what: failed.append(repr(what.exc_value)))
    with pytest.raises(KeyboardInterrupt):
        list(run_jobs(job_tasks.interrupts_parent, {str(k): (k,) for k in range(20)}, workers=2))
    assert not failed
    assert squares(workers=2) == squares(), "new workers start"


@pytest.mark.parametrize("workers", [1, 2])
def test_what_an_outcome_makes_possible_comes_next(workers, tmp_path, monkeypatch) -> None:
    """Before jobs that were there and are not begun, also after a job that failed: told by the order of begun jobs, as a slow worker answers late."""
    journal = Journal("then", workers, folder=tmp_path)
    begun: list[str] = []
    local_workers = jobs._local_workers

    @contextlib.contextmanager
    def noted(count):
        with local_workers(count) as executor:
            submit = executor.submit
            noting = lambda call, key, *rest: begun.append(key) or submit(call, key, *rest)  # noqa: E731
            monkeypatch.setattr(executor, "submit", noting)
            yield executor
            monkeypatch.undo()

    def then(outcome):
        begun.append("after " + outcome.key)
        return {f"{outcome.key}+": (int(outcome.key) + 100,)} if outcome.key in ("0", "1") else {}

    monkeypatch.setattr(jobs, "_local_workers", noted)
    names = {str(k): (k,) for k in range(20)}
    found = [o.key for o in run_jobs(job_tasks.one_is_bad, names, workers=workers, then=then, journal=journal)]
    assert sorted(found) == sorted([*names, "0+", "1+"])
    order = found if workers == 1 else begun
    for key in ("0", "1"):
        since = order[order.index(key if workers == 1 else f"after {key}") + 1 :]
        before = [name for name in since[: since.index(f"{key}+")] if not name.startswith("after ")]
        assert {*before} <= {"0+", "1+"}, "nothing else is begun before"
    assert {*journal.read()} == {*found} - {"1", "2"}


def test_what_has_no_value_is_not_kept(tmp_path) -> None:
    journal = Journal("none", 0, folder=tmp_path)
    assert len(list(run_jobs(print, {"a": (), "b": ()}, journal=journal))) == 2 and journal.read() == {}


# ---- keeping what is done -----------------------------------------------------------------------------------------


def test_values_are_in_the_journal_before_they_are_yielded(tmp_path) -> None:
    journal = Journal("now", 0, folder=tmp_path)
    seen = []
    for outcome in run_jobs(job_tasks.square, {str(k): (k,) for k in range(3)}, journal=journal):
        seen.append(outcome.key)
        assert list(journal.read()) == seen


@pytest.mark.parametrize("workers", [1, 2])
def test_interrupted_jobs_are_not_run_again(workers, tmp_path) -> None:
    """Stopped after three results: those are kept, the rest is run, nothing is lost."""
    journal = Journal("stopped", workers, folder=tmp_path / "journals")
    jobs = {str(k): (str(tmp_path), k, 0.01) for k in range(8)}
    first = []
    for outcome in run_jobs(job_tasks.note, jobs, workers=workers, journal=journal):
        first.append(outcome)
        if len(first) == 3:
            break
    (tmp_path / "calls").unlink()
    second = list(run_jobs(job_tasks.note, jobs, workers=workers, journal=journal))
    assert {o.key: o.value for o in second} == {str(k): k * k for k in range(8)}
    assert [o.key for o in second[:3]] == sorted(o.key for o in first) and [o.kept for o in second] == [True] * 3 + [
        False
    ] * 5
    assert calls(tmp_path)[0] == sorted({*range(8)} - {int(o.key) for o in first})


def test_an_interruption_inside_a_job_passes_through(tmp_path) -> None:
    (tmp_path / "interrupt").touch()
    journal = Journal("inside", 0, folder=tmp_path / "journals")
    jobs = {str(k): (str(tmp_path), k) for k in range(3)}
    with pytest.raises(KeyboardInterrupt):
        list(run_jobs(job_tasks.interrupts, jobs, journal=journal))
    assert journal.read() == {"0": 0}


def test_what_is_ready_beside_an_interruption_is_not_lost(monkeypatch) -> None:
    """Futures that are ready at once come in no order: the interruption is made the first of them."""

    class AtOnce:
        def submit(self, task, key, *job):
            future = Future()
            if key == "stops":
                future.set_exception(KeyboardInterrupt())
            else:
                future.set_result(key)
            return future

    class First:
        def __init__(self, futures, return_when) -> None:
            self.done = sorted(futures, key=lambda f: f.exception() is None)

    monkeypatch.setattr(jobs, "wait", First)
    running = jobs._submit_and_wait(AtOnce(), dict.fromkeys(["a", "stops", "b"], b""))
    assert {next(running), next(running)} == {"a", "b"}
    with pytest.raises(KeyboardInterrupt):
        next(running)


def test_workers_that_are_kept_work_in_the_folder_of_today(tmp_path, monkeypatch) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert [outcome.value for outcome in run_jobs(os.getcwd, {"folder": ()}, apart=True)] == [os.getcwd()]


def test_errors_are_not_kept(tmp_path) -> None:
    journal = Journal("errors", 0, folder=tmp_path)
    list(run_jobs(job_tasks.one_is_bad, {str(k): (k,) for k in range(4)}, journal=journal))
    assert journal.read() == {"0": 0, "3": 3}


def test_a_line_cut_short_spoils_no_other(tmp_path) -> None:
    journal = Journal("cut", 0, folder=tmp_path)
    assert journal.read() == {}
    journal.add("a", [1, 2])
    with journal.path.open("a") as file:
        file.write('{"job": "b", "val')
    journal.add("c", {"x": None})
    assert journal.read() == {"a": [1, 2], "c": {"x": None}}
    with journal.path.open("a") as file:
        file.write('[1]\n{"job": "d"}\n3\n')
    assert list(journal.read()) == ["a", "c"]
    journal.close()
    assert journal.read() == {} and not journal.path.exists()
    journal.close()


def test_a_journal_is_named_by_what_is_run_and_by_the_code(tmp_path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n")

    def name(identity=0, sources=(str(file),)):
        return Journal("k", identity, sources, tmp_path).path.name

    assert name() == name() and len({name(), name(1), name(sources=()), name(sources=["problems"])}) == 4
    before = name()
    file.write_text("x = 2\n")
    assert name() != before


# ---- dask ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def cluster(**options):
    """A local cluster that never gives its workers up: on a busy machine one that was killed may take longer to be replaced than the 15
    seconds after which dask closes its place for good, with the job that the new worker has just been given.
    """
    distributed = pytest.importorskip("distributed", reason="the extra 'distributed' is not installed")
    import dask

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(processes=True, dashboard_address=":0", **{"threads_per_worker": 1} | options) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def dask():
    with cluster(n_workers=2) as made:
        yield made


def test_dask_finds_the_same(dask, tmp_path) -> None:
    assert squares(scheduler=dask.scheduler_address) == squares()
    found = {
        o.key: o
        for o in run_jobs(job_tasks.one_is_bad, {str(k): (k,) for k in range(4)}, scheduler=dask.scheduler_address)
    }
    assert found["3"].value == 3 and "one over nothing" in found["1"].error and "bye" in found["2"].error
    assert {o.value for o in run_jobs(lambda x: -x, {"a": (1,)}, scheduler=dask.scheduler_address)} == {-1}


def test_a_killed_dask_worker_loses_nothing(dask, tmp_path) -> None:
    """SIGKILL from outside in the middle of the jobs: another worker runs again what that one had."""
    jobs = {str(k): (str(tmp_path), k, 0.05) for k in range(30)}
    journal = Journal("dask", 0, folder=tmp_path / "journals")
    found: list[Outcome] = []
    victim = None
    for outcome in run_jobs(job_tasks.note, jobs, scheduler=dask.scheduler_address, journal=journal):
        found.append(outcome)
        if len(found) == 5:
            victim = min(calls(tmp_path)[1])
            os.kill(victim, signal.SIGKILL)
    assert {o.key: o.value for o in found} == {str(k): k * k for k in range(30)} and not any(o.error for o in found)
    assert len(found) == 30 and len(journal.read()) == 30
    assert len(calls(tmp_path)[1]) >= 2, "others went on"


def test_a_job_that_kills_every_worker_becomes_an_error() -> None:
    """Dask gives up on it after four; the other jobs are done, and the call comes to its end."""
    jobs = {str(k): (k, 1.0) for k in range(6)}  # a worker that dies as it comes up would not be restarted by its nanny
    with cluster(n_workers=2) as made:  # of its own, since it may have lost its workers afterwards
        found = {o.key: o for o in run_jobs(job_tasks.dies_always, jobs, scheduler=made.scheduler_address)}
    assert found["3"].error.startswith("KilledWorker") and "4 different workers" in found["3"].error
    assert {k: o.value for k, o in found.items() if o.error is None} == {str(k): k for k in (0, 1, 2, 4, 5)}


def test_jobs_given_up_on_with_their_neighbour_are_run_again(tmp_path) -> None:
    """A worker with two threads, and a scheduler that gives up at the first death: what runs beside the killer goes with it."""
    journal = Journal("neighbours", 0, folder=tmp_path)
    jobs = {str(k): (k, 0.5 if k == 3 else 2.0) for k in (3, 4)}
    dask = pytest.importorskip("dask", reason="the extra 'distributed' is not installed")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster(n_workers=1, threads_per_worker=2) as made,
    ):
        found = list(run_jobs(job_tasks.dies_always, jobs, scheduler=made.scheduler_address, journal=journal))
    assert {o.key: o.value for o in found} == {"3": None, "4": 4} and len(found) == 2
    assert [o.error for o in found if o.key == "4"] == [None] and journal.read() == {"4": 4}


def test_stopped_dask_jobs_go_on(dask, tmp_path) -> None:
    journal = Journal("dask-stopped", 0, folder=tmp_path / "journals")
    jobs = {str(k): (str(tmp_path), k, 0.02) for k in range(8)}
    for outcome in run_jobs(job_tasks.note, jobs, scheduler=dask.scheduler_address, journal=journal):
        if outcome.key:
            break
    second = list(run_jobs(job_tasks.note, jobs, scheduler=dask.scheduler_address, journal=journal))
    assert len(second) == 8 and [o.kept for o in second] == [True] + [False] * 7


def test_checks_and_faults_go_to_a_scheduler(dask, tmp_path, monkeypatch) -> None:
    from claim_files import TROUBLED

    monkeypatch.chdir(tmp_path)
    Path("troubled.py").write_text(TROUBLED)
    here = CliRunner().invoke(main, ["check", "troubled.py", "--workers", "1", "--json", "here.json"])
    there = CliRunner().invoke(
        main, ["check", "troubled.py", "--scheduler", dask.scheduler_address, "--json", "there.json"]
    )
    assert here.exit_code == there.exit_code == 1, there.output

    def seen(file):
        return [v | {"seconds": 0} for v in json.loads(Path(file).read_text())["verdicts"]]

    assert seen("here.json") == seen("there.json")
    monkeypatch.setenv("FEDTHEORY_SCHEDULER", dask.scheduler_address)
    tested = CliRunner().invoke(main, ["selftest", "troubled.py"])
    assert tested.stdout.splitlines()[-1] == "planted faults caught: 1 / 8"


def test_a_single_dask_worker_is_used_too(tmp_path) -> None:
    with cluster(n_workers=1) as made:
        list(run_jobs(job_tasks.note, {str(k): (str(tmp_path), k) for k in range(3)}, scheduler=made.scheduler_address))
    done, processes = calls(tmp_path)
    assert done == [0, 1, 2] and os.getpid() not in processes


def test_a_cluster_that_loses_all_its_workers_is_not_waited_for(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fedtheory.tools.jobs.ALONE_SECONDS", 1.0)
    with cluster(n_workers=1) as made:
        outcomes = run_jobs(
            job_tasks.note, {str(k): (str(tmp_path), k, 0.1) for k in range(200)}, scheduler=made.scheduler_address
        )
        assert next(outcomes).error is None
        made.scale(0)
        with pytest.raises(JobsStopped, match=r"has had no workers for 1 seconds; results so far are kept"):
            list(outcomes)


def test_a_scheduler_that_is_not_there_is_named(monkeypatch) -> None:
    pytest.importorskip("distributed", reason="the extra 'distributed' is not installed")
    from fedtheory.tools import jobs

    monkeypatch.setattr(jobs, "CONNECT_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense", "smoke://127.0.0.1:1"):
        with pytest.raises(
            NotAvailable, match=f"no dask scheduler answers at '{address}'.*start one with 'dask scheduler'"
        ):
            squares(scheduler=address)
    result = CliRunner().invoke(main, ["sweep", "gd", "quadratics", "--scheduler", "nonsense"])
    assert result.exit_code == 2 and "no dask scheduler answers at 'nonsense'" in result.stderr


def test_a_scheduler_without_workers_is_named(monkeypatch) -> None:
    from fedtheory.tools import jobs

    with cluster(n_workers=0) as made:
        monkeypatch.setattr(jobs, "CONNECT_SECONDS", 0.5)
        with pytest.raises(NotAvailable, match=r"has no workers; start some with 'dask worker tcp://"):
            squares(scheduler=made.scheduler_address)
