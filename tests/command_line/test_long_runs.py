"""Before, during and after a long run: what it will cost, in which order things are told, how an interruption ends."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fedtheory.claims import estimates
from fedtheory.claims.checking import run_checks
from fedtheory.claims.context import Context
from fedtheory.claims.estimates import Cost, count_fitting, estimate, kind_of, measure_cost
from fedtheory.claims.experiments import Training, list_trainings
from fedtheory.claims.needs import find_store, list_needs
from fedtheory.claims.references import load_claims, select
from fedtheory.command_line import experiments
from fedtheory.command_line.experiments import count_run_workers
from fedtheory.command_line.main import main

CLAIMS = """
from fedtheory.claims import Claim, Covered, Fault, Part, holds
from fedtheory.claims.experiments import Training

def run(lr, seed=0, rounds=ROUNDS):
    settings = {"lr": lr, "steps": STEPS, "batch": 16}
    return Training("fedavg", "digits-softmax", rounds, settings, {"clients": 5, "split": "iid"}, ("value",), seed=seed)

def theory(ctx, *, wrong=False):
    yield holds("it", not wrong, "exact", "it is", covered=Covered(9, "instances"))

def experiment(runs):
    def check(ctx, *, wrong=False):
        found = [r.read(ctx).last("value") for r in runs]
        yield Part("it", (max(found) < 9) is not wrong, "real data", "values")
    return check

def claim(id, runs):
    return Claim(id, "x", "ordering", "here", "It learns.", experiment(runs), (Fault("w", "it", {"wrong": True}),), needs=lambda ctx: runs)

CLAIMS = [
    claim("X-SEVERAL", [run(0.1, seed) for seed in range(MANY)]),
    claim("X-ONE", [run(0.2)]),
    Claim("X-THEORY", "x", "bound", "here", "It is.", theory, (Fault("w", "it", {"wrong": True}),)),
]
"""


def write_claims(folder: Path, *, rounds=2, steps=1, many=6) -> Path:
    file = folder / "claims.py"
    file.write_text(CLAIMS.replace("ROUNDS", str(rounds)).replace("STEPS", str(steps)).replace("MANY", str(many)))
    return file


@pytest.fixture
def fedtheory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *options: CliRunner().invoke(main, [*options, "--workers", "1"])


# ---- in which order ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_theory_comes_first_and_an_experiment_as_soon_as_its_runs_are_done(tmp_path, workers) -> None:
    references = select([str(write_claims(tmp_path, rounds=40, many=40))])  # long enough that a second worker can start
    context, told = Context(results=str(tmp_path / "runs")), []
    needs = list_needs(references, context)
    assert len(needs) == 41
    for verdict in run_checks(references, context, workers, needs=needs, told=lambda o: told.append(o.key)):
        told.append(verdict.id)
        assert verdict.error is None
    assert len(told) == 44 and told[0] == "X-THEORY" and told[-1] == "X-SEVERAL"
    soon = 3 if workers == 1 else 33  # workers have other runs at hand
    assert told.index("X-ONE") < soon, "its run is made first, and others wait for no worker"
    assert list_needs(references, context) == {}
    assert [v.id for v in run_checks(references, context, needs={})] == ["X-THEORY", "X-SEVERAL", "X-ONE"]


def test_a_run_that_fails_is_told_and_its_claim_is_judged_all_the_same(tmp_path) -> None:
    file = write_claims(tmp_path, many=2)
    file.write_text(file.read_text().replace('"split": "iid"', '"split": "none"'))
    references, told = select([str(file)]), []
    context = Context(results=str(tmp_path / "runs"))
    found = {v.id: v for v in run_checks(references, context, needs=list_needs(references, context), told=told.append)}
    assert len(told) == 3 and all("unknown split 'none'" in outcome.error for outcome in told)
    assert {id: bool(v.error) for id, v in found.items()} == {"X-THEORY": False, "X-ONE": True, "X-SEVERAL": True}


def test_verdicts_are_told_as_lines_and_in_a_file(fedtheory, tmp_path) -> None:
    write_claims(tmp_path)
    said = fedtheory("check", "claims.py", "--log", "logs/here.log")
    assert said.exit_code == 0, said.output
    lines = said.stderr.splitlines()
    assert lines[0] == "7 runs of experiments are to be made at laptop size"
    assert re.fullmatch(r"X-THEORY: supported \(\d+\.\d s\)", lines[1])
    assert any(re.fullmatch(r"X-ONE: .* \(\d+\.\d s, laptop size\)", line) for line in lines)
    assert any(
        re.match(r"7 of 7 runs of experiments are done, the last fedavg-digits-softmax-seed\d-\w+ in ", line)
        for line in lines
    )
    logged = Path("logs/here.log").read_text().splitlines()
    assert [re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ", "", line) for line in logged] == lines[1:]
    assert fedtheory("check", "claims.py", "--json", "-").stdout.startswith("{"), (
        "lines are no part of what is piped on"
    )
    assert not Path(".fedtheory/progress.log").exists(), "where nothing takes long nothing is left behind"
    fedtheory("check", "claims.py", "--fresh")
    assert "X-ONE: " in Path(".fedtheory/progress.log").read_text()


# ---- before ------------------------------------------------------------------------------------------------------------


def test_a_dry_run_makes_nothing_and_says_what_would_be_made(fedtheory, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    write_claims(tmp_path)
    for command in ("check", "selftest"):
        said = fedtheory(command, "claims.py", "--dry-run")
        assert said.exit_code == 0, said.output
        text = " ".join(said.stdout.split())
        assert "3 claims, 1 of them without runs; of 7 runs at laptop size 0 are kept, 0 refused, 7 to be made" in text
        assert re.search(r"fedavg │ digits-softmax │ 7 │ 0 │ 0 │", text) and re.search(
            r"about \d+ s with 1 worker: ", text
        )
        assert "disk: " in text and not list(tmp_path.rglob("metrics.csv"))
    fedtheory("check", "claims.py")
    [context] = [Context(results=str(find_store().resolve()))]
    run = list_trainings(load_claims(str(tmp_path / "claims.py"))["X-ONE"], context)[0]
    identity = Path(context.results) / run.key / "identity.json"
    identity.write_text(json.dumps(json.loads(identity.read_text()) | {"versions": {"numpy": "1.0"}}))
    said = " ".join(fedtheory("check", "claims.py", "--dry-run").stdout.split())
    assert "of 7 runs at laptop size 6 are kept, 1 refused, 0 to be made" in said
    assert "refused (1 runs): a kept run of fedavg on digits-softmax was made with numpy 1.0, here " in said


def test_an_estimate_is_of_rounds_and_measurements(tmp_path, monkeypatch) -> None:
    """Of each kind one run is measured, until time is up; then kinds take the cost of one of the same method and problem."""
    claims = list(load_claims(str(write_claims(tmp_path, rounds=10))).values())
    asked: list[Training] = []

    def measure(training, context):
        asked.append(training)
        return Cost(prepared=1.0, round=0.5, measured=0.25, state=1000)

    kinds = estimate(claims, Context(), measure=measure)
    assert len(kinds) == 1 == len(asked), "step sizes and seeds make no other kind"
    assert kinds[0].seconds == 7 * (1.0 + 10 * 0.5 + 11 * 0.25)
    [late] = estimate(claims, Context(), limit=-1.0, measure=measure)
    assert len(asked) == 1 and late.cost is None and late.alike
    base = asked[0]
    other = Training(**{**base.configuration, "method": "fedprox", "settings": {**base.settings, "rho": 1.0}})
    [one] = claims[:1]
    both = dataclasses.replace(one, needs=lambda context: [*(one.needs or (lambda _: []))(context), other])
    ticks = itertools.count()  # time is up after the first one: nothing more is measured
    with monkeypatch.context() as patched:
        patched.setattr(estimates.time, "monotonic", lambda: float(next(ticks)))
        kinds = estimate([both], Context(), limit=1.5, measure=measure)
    assert len(kinds) == 2 and sorted(kind.alike for kind in kinds) == [False, True]
    assert {kind.cost.round for kind in kinds} == {0.5}, (
        "another method on the same problem is taken to cost as much as the slowest"
    )


def test_runs_are_of_one_kind_whatever_their_seed_rounds_and_steps_of_no_number(tmp_path) -> None:
    [base, *_] = list_trainings(list(load_claims(str(write_claims(tmp_path, rounds=10))).values())[1], Context())
    other = dataclasses.replace(base, seed=7, rounds=99, settings=dict(base.settings, lr=3.0))
    assert kind_of(base) == kind_of(other)
    assert kind_of(base) != kind_of(dataclasses.replace(base, settings=dict(base.settings, steps=3)))


def test_what_is_measured_grows_with_the_work(monkeypatch) -> None:
    def cost(steps, every=1):
        training = Training(
            "fedavg",
            "digits-softmax",
            4,
            {"lr": 0.1, "steps": steps, "batch": 16},
            {"clients": 5, "split": "iid"},
            ("value",),
            every=every,
        )
        return measure_cost(training, Context())

    few, many = cost(5), cost(500)
    assert (
        many.round > 10 * few.round > 0
        and 0 < few.measured < many.round
        and few.state == 5 * 0 + 640 * 8
        and few.on_gpu is None
    )
    monkeypatch.setattr(estimates, "ROUND_SECONDS", 0.0)
    assert cost(500).round > 10 * few.round, "one round is enough where it took long"


def test_a_round_with_exact_gradients_counts_as_often_as_it_comes(monkeypatch) -> None:
    seconds = iter([0.0, 0.0, 21.0, 21.5])  # to prepare, twice; one round, two
    monkeypatch.setattr(estimates, "_time_of", lambda clock, cuda, work: (next(seconds), work()))
    settings = {"eta": 0.1, "gamma": 0.4, "steps": 1, "batch": 2, "period": 20}
    training = Training("fedpd-vr", "digits-softmax", 4, settings, {"clients": 5, "split": "iid"}, ())
    assert measure_cost(training, Context()).round == pytest.approx((21 + 19 * 0.5) / 20)


@pytest.mark.parametrize(
    ("free", "needed", "most", "fit"),
    [(100, 30, 8, 3), (100, 10, 8, 8), (100, 95, 8, 1), (10, 30, 8, 1), (100, 0, 8, 8)],
)
def test_how_many_runs_fit(free, needed, most, fit) -> None:
    assert count_fitting(free, needed, most) == fit


def test_on_a_gpu_as_many_runs_are_made_at_once_as_fit(monkeypatch, capsys) -> None:
    gpu, needs = Context(device="cuda"), [object()]
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(experiments, "_measure_memory", lambda needs, context: (30 * 2**30, 139 * 2**30))
    assert count_run_workers(None, gpu, needs) == 4
    assert "a run takes up to 30 GiB of 139 GiB free on cuda: 4 at once" in capsys.readouterr().err
    assert count_run_workers(9, gpu, needs) == 9 and count_run_workers(None, Context(), needs) == 16
    assert count_run_workers(None, gpu, []) == 16, "without runs nothing is measured"

    def fails(needs, context):
        raise RuntimeError("no GPU")

    monkeypatch.setattr(experiments, "_measure_memory", fails)
    assert count_run_workers(None, gpu, needs) == 1 and "no GPU" in capsys.readouterr().err


# ---- interrupted -------------------------------------------------------------------------------------------------------


def _begin(command: str, folder: Path, err: Any) -> subprocess.Popen[str]:
    """A command in a process of a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "fedtheory", command, "claims.py", "--workers", "2", "--results", "runs"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        stdout=subprocess.PIPE,
        stderr=err,
        text=True,
        start_new_session=True,
    )


@pytest.mark.skipif(os.name == "nt", reason="a process cannot be sent these signals")
@pytest.mark.parametrize("command", ["check", "selftest"])
@pytest.mark.parametrize(
    ("number", "everyone"), [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGINT, True)]
)
def test_an_interruption_ends_with_one_line(tmp_path, command, number, everyone) -> None:
    """Sent to the process alone (kill), or to its whole group (Ctrl-C, a batch system): no traceback, no noise of the workers."""
    write_claims(tmp_path, rounds=20_000, steps=20, many=3)
    with (tmp_path / "err").open("w") as err:
        process = _begin(command, tmp_path, err)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and len(list(tmp_path.glob("runs/*/configuration.json"))) < 2:
            time.sleep(0.2)
        time.sleep(0.5)
        (os.killpg if everyone else os.kill)(process.pid, number)
        out, _ = process.communicate(timeout=60)
    lines = (tmp_path / "err").read_text().splitlines()
    assert process.returncode == 130
    said = r"interrupted after .*0 of 4 runs of experiments; the same command goes on from there"
    assert re.fullmatch(said, lines[-1]), lines
    assert [line for line in lines[:-1] if not re.match(r"4 runs of experiments are to be made|X-THEORY: ", line)] == []
    assert "Traceback" not in out
    assert len(list(tmp_path.glob("runs/*/identity.json"))) >= 2, "what was begun says what made it"
