"""What a statement does not say of its method: named in its verdict, and no ground to call a true statement false."""

import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from evidence import judged

from fedtheory.algorithms.catalogue import ALGORITHMS
from fedtheory.claims import (
    Bound,
    Context,
    Contraction,
    Divergence,
    Equivalence,
    Inequality,
    Limit,
    Ordering,
    Reading,
    Side,
)
from fedtheory.claims.statements.as_claims import find_of_statement
from fedtheory.claims.statements.judging import judge_statement
from fedtheory.claims.statements.named_methods import NamedMethod
from fedtheory.claims.statements.planting import list_faults
from fedtheory.claims.statements.unstated import OneMethod, list_unstated
from fedtheory.command_line.main import main
from fedtheory.core.problem import objective
from problems.quadratics import random_quadratics, scalar_quadratics

#: FedSplit with exact solves contracts by ((1 - s mu)/(1 + s mu))^2 where s <= 1/sqrt(mu L)
SPLIT: dict[str, Any] = {"functions": "L = 1, mu = 1/2", "potential": {"z_i": 1}, "region": "", "claimed": "9/25"}
SAME: dict[str, Any] = {"region": "0 < eta", "states": {"x": "x"}}
PAIR: dict[str, Any] = {
    "problem": lambda a, b: scalar_quadratics(np.array([a, b], dtype=object), np.array([1, -1], dtype=object)),
    "start": 2,
    "region": "0 < a, 0 < b, 0 < s < 1/(a + b)",
}


def told(statement: Any) -> str:
    return next((f.text for f in statement.findings(Context()) if isinstance(f, Reading)), "")


def test_a_true_contraction_is_not_refuted_for_an_option_that_is_not_said() -> None:
    found = judge_statement(Contraction("fedsplit", "s = 1/2", **SPLIT))
    assert found.word == "inconclusive" and found.reasons[0].startswith("it hangs on the option 'exact' of fedsplit")
    assert "refuted with exact = false, the default, and not with exact = true" in found.reasons[0]
    assert "exact = false" in found.unstated and "lr = 0.1" in found.unstated
    assert judge_statement(Contraction("fedsplit", "s = 1/2, exact", **SPLIT)).word == "proved"


def test_an_option_that_is_said_is_taken_as_it_is_said() -> None:
    """Also with the value that it has by default; and what fails either way hangs on nothing."""
    steps = "lr = 1/10, steps = 1, epochs = 0, lr_decay = 1"
    found = judge_statement(Contraction("fedsplit", f"s = 1/2, exact = false, {steps}", **SPLIT))
    assert found.word == "refuted" and "exact" not in found.unstated and "lr" not in found.unstated
    wrong = judge_statement(Contraction("fedsplit", f"s = 1/2, {steps}", **{**SPLIT, "claimed": "1/5"}))
    assert wrong.word == "refuted" and "exact = false" in wrong.unstated


#: ||x+ - x*|| <= (1 - mu/L) ||x - x*|| with the step size 1/L, and with no number
NO_STEP: dict[str, Any] = {"region": "0 < mu < L, 0 < R", "functions": "L, mu", "radius": "R"}


def test_a_true_bound_is_not_refuted_for_a_number_that_is_not_said() -> None:
    found = judge_statement(Bound("gd", "", **NO_STEP, claimed="(1 - mu/L)**2*R**2"))
    assert found.word == "inconclusive" and found.reasons[0].startswith(
        "the statement leaves open lr of gd (default 0.1)"
    )
    assert "say which is meant, as in 'lr = 0.1'" in found.reasons[0] and "exactly" in found.reasons[1]
    assert judge_statement(Bound("gd", "lr = 1/L", **NO_STEP, claimed="(1 - mu/L)**2*R**2")).word == "proved"
    assert judge_statement(Bound("gd", "lr = 1/10", **NO_STEP, claimed="(1 - mu/L)**2*R**2")).word == "refuted"
    assert judge_statement(Bound("gd", "lr = 1/L", **NO_STEP, claimed="(1 - mu/L)**3*R**2")).word == "refuted"


def test_every_number_that_is_open_is_named_and_what_holds_needs_none() -> None:
    def moves(problem: Any, before: Any, after: Any, given: Any) -> Any:
        return SimpleNamespace(f=objective(problem, after.x), f0=objective(problem, before.x))

    falls: dict[str, Any] = {"quantities": moves, "region": "0 < L <= 1, 0 < s <= 1/2", "curvatures": "0, L"}
    status, parts = judged("proof step", Inequality("fedavg", "lr = s", claimed="f0 <= f", **falls))
    assert status == "inconclusive" and parts[0].text.startswith(
        "the statement leaves open steps of fedavg (default 1)"
    )
    assert parts[0].counterexample is None and parts[0].disproof is None
    assert judged("proof step", Inequality("fedavg", "lr = s, steps = 1", claimed="f0 <= f", **falls))[0] == "refuted"
    assert judged("proof step", Inequality("gd", "lr = s", claimed="f <= f0", **falls))[0] == "supported"
    pair = judged("equivalence", Equivalence("gd", "fedavg", "lr = s/2", "lr = s", region="0 < s"))
    assert pair[0] == "inconclusive" and "steps of fedavg (default 1)" in pair[1][0].text


def test_a_planted_mistake_is_refuted_and_hangs_on_no_number() -> None:
    """The statement leaves ``steps`` open; what is planted in its check has the default, so that it is the mistake that is seen."""
    for stated in (
        Equivalence("fedavg", "gd", "lr = s", "lr = s", region="0 < s"),
        Bound("fedavg", "lr = 1/L", region="0 < L", functions="L", measure="gap", claimed="L/6"),
    ):
        kind: Any = "equivalence" if isinstance(stated, Equivalence) else "bound"
        for fault in list_faults(stated, "statement", {}):
            planted = fault.subject["planted"][1](Context())
            assert not any(one.is_number for one in list_unstated(planted))
            status, parts = judged(kind, _Judged(planted))
            assert status == "refuted", (fault.name, parts)


@dataclass(frozen=True)
class _Judged:
    """A statement of any kind, by its findings."""

    statement: Any

    def findings(self, context: Context) -> Any:
        return find_of_statement(self.statement, context)


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda entry: entry.name)
def test_a_default_that_is_named_is_the_default(entry: Any) -> None:
    assert NamedMethod(entry.name, _all_of(entry)).at({}) == NamedMethod(entry.name, "").at({})


def test_a_fraction_that_is_one_switches_off_what_one_does() -> None:
    """A step size that does not decay: "rounds depend on the number of the round (1.0**r)" was said of it."""
    for options in ("lr = s", "lr = s, steps = 1, batch = none, lr_decay = 1"):
        status, parts = judged("identity", Limit("fedavg", options, **PAIR, point="minimiser"))
        assert status == "proved" and "for all parameters" in parts[0].text


def test_a_bound_names_what_it_leaves_open() -> None:
    found = judge_statement(Bound("fedavg", "steps = 1", region="", functions="L = 1", measure="gap", claimed="1/2"))
    assert found.unstated == "Options left to their defaults: fedavg with lr = 0.1, batch = none, lr_decay = 1."
    assert found.unstated in str(found)
    whole = judge_statement(Bound("gd", "lr = 1", region="", functions="L = 1", measure="gap", claimed="1/6"))
    assert whole.unstated == "" and whole.word == "proved"


def test_a_true_equivalence_is_not_refuted_for_an_option_that_is_not_said() -> None:
    status, parts = judged(
        "equivalence", Equivalence("feddyn", "fedpd", "rho = 1/eta", "eta, init_dual = zero", **SAME)
    )
    assert status == "inconclusive" and "hangs on the option 'exact' of feddyn and fedpd" in parts[0].text
    options = "rho = 1/eta, exact", "eta, init_dual = zero, exact"
    assert judged("equivalence", Equivalence("feddyn", "fedpd", *options, **SAME))[0] == "supported"
    steps = "exact = false, lr = 1/10, steps = 1, epochs = 0, lr_decay = 1"
    options = f"rho = 1/eta, {steps}", f"eta, init_dual = zero, {steps}, p = 0, communicate_every = 1"
    assert judged("equivalence", Equivalence("feddyn", "fedpd", *options, **SAME))[0] == "refuted"
    options = "rho = 1/eta, exact", "eta, exact"
    status, parts = judged("equivalence", Equivalence("feddyn", "fedpd", *options, **SAME))
    assert status == "inconclusive" and "'init_dual' of fedpd" in parts[0].text
    options = "rho = 2/eta, exact", "eta, init_dual = zero, exact, p = 0, communicate_every = 1"
    assert judged("equivalence", Equivalence("feddyn", "fedpd", *options, **SAME))[0] == "refuted"


def test_a_limit_hangs_on_what_it_does_not_say() -> None:
    stated = Limit("fedsplit", "s", **PAIR)
    status, parts = judged("identity", stated)
    assert status == "inconclusive" and "'exact' of fedsplit" in parts[0].text
    assert "lr = 0.1" in told(stated) and "lr" not in told(Limit("fedsplit", "s, exact", **PAIR))
    assert judged("identity", Limit("fedsplit", "s, exact", **PAIR))[0] == "supported"
    steps = "lr = 1/10, steps = 1, epochs = 0, lr_decay = 1"
    assert judged("identity", Limit("fedsplit", f"s, exact = false, {steps}", **PAIR))[0] == "refuted"


def test_every_kind_names_what_it_leaves_open() -> None:
    def quantities(problem: Any, before: Any, after: Any, given: Any) -> Any:
        return SimpleNamespace(f=objective(problem, after.x))

    def draw(rng: np.random.Generator) -> Any:
        return random_quadratics(4, 3, seed=int(rng.integers(2**31)))

    inequality = Inequality("fedavg", "lr", quantities=quantities, claimed="f <= f + 0", region="0 < lr < 1")
    far = Divergence("fedavg", "lr = s", **{**PAIR, "region": "0 < a, 0 < b, 4/min(a, b) < s"})
    pair = Ordering(
        Side("gd", "lr = 1/L", problem=draw),
        Side("fedavg", "lr = 1/(9*L)", problem=draw),
        metric="gap",
        rounds=9,
        draws=10,
    )
    for statement in (inequality, far, pair):
        assert told(statement) == "Options left to their defaults: fedavg with steps = 1, batch = none, lr_decay = 1."


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda entry: entry.name)
def test_options_are_named_that_change_the_method_and_no_others(entry: Any) -> None:
    named = {one.option.name for one in list_unstated(OneMethod(entry.name, ""))}
    for option in entry.options:
        other = not option.default if option.kind is bool else option.telling_value
        try:
            changes = other != option.default and entry.build(**{option.name: other}) != entry.build()
        except ValueError:
            continue
        assert not changes or option.name in named
    others = {one.option.name for one in list_unstated(OneMethod(entry.name, _all_of(entry)))}
    assert others <= {"personal_layers"}, "that has no word for its default, an empty one"


def _all_of(entry: Any) -> str:
    return ", ".join(f"{o.name} = {str(o.default).lower()}" for o in entry.options if o.default != "")


def test_commands_name_what_was_not_given(tmp_path: Any) -> None:
    run = CliRunner().invoke
    split = ["fedsplit", "--s", "0.5", "--mu", "0.5", "--stated", "z_i", "1"]
    assert "Options left to their defaults: fedsplit with lr = 0.1, steps = 1" in run(main, ["lyapunov", *split]).output
    assert "defaults" not in run(main, ["lyapunov", *split, "--exact"]).output
    found = run(main, ["prove", "fedsplit", "--region", "0 <= t <= 0", "--options", "s = 1/2", "--functions", "L = 1, mu = 1/2",
                       "--potential", "z_i = 1", "--bound", "9/25 + t", "--json", str(tmp_path / "f.json")])  # fmt: skip
    assert found.exit_code == 4, found.output
    assert (
        "hangs on the option 'exact' of fedsplit" in found.output and "defaults: fedsplit with lr = 0.1" in found.output
    )
    assert json.loads((tmp_path / "f.json").read_text())["verdicts"][0]["status"] == "inconclusive"


def test_a_worst_case_above_a_bound_hangs_on_an_option_that_was_not_given() -> None:
    run = CliRunner().invoke
    # after two rounds .1098 with exact solves, .3403 with one local step of size .1
    asked = [
        "worst-case",
        "fedpd",
        "--eta",
        "0.5",
        "--clients",
        "any",
        "--mu",
        "0.5",
        "--rounds",
        "2",
        "--measure",
        "gap",
        "--bound",
        "0.2",
    ]
    found = run(main, asked)
    assert found.exit_code == 4 and "hangs on the option 'exact' of fedpd" in found.output, found.output
    assert run(main, [*asked, "--exact"]).exit_code == 0
    wrong = [*asked[:-1], "0.001"]
    found = run(main, wrong)
    assert found.exit_code == 4 and "leaves open p of fedpd (default 0), lr of fedpd" in found.output, found.output
    assert run(main, [*wrong, "--p", "0", "--lr", "0.1", "--local-steps", "1"]).exit_code == 3
