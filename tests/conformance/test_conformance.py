"""Conformance: correct code conforms, every known mistake is named, poor adapters get a clear error.

The implementations are plain NumPy loops that know nothing of the package (`conformance_loops`).
"""

from __future__ import annotations

import itertools
import json
import textwrap
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from click.testing import CliRunner
from conformance_loops import (
    AFedPdLoop,
    FedAdmmLoop,
    FedAvgLoop,
    FedDynLoop,
    FedPdLoop,
    FedProxLoop,
    Loop,
    ScaffnewLoop,
    ScaffoldLoop,
)

from fedtheory.algorithms import ALGORITHMS, Scaffold, listed
from fedtheory.algorithms.mistakes import (
    Mistake,
    StaleMistake,
    build_as_printed,
    build_mistaken,
    find_code_mistakes,
    find_mistakes,
    find_option_mistakes,
    find_print,
    show_difference,
)
from fedtheory.command_line.main import main
from fedtheory.conformance.adapters import load_adapter
from fedtheory.conformance.compare import conform
from fedtheory.conformance.trials import list_variables, make_trials, measure_differences, play_reference
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.regularisers import regularised
from problems.quadratics import Quadratic, random_quadratics
from problems.server import ServerAssisted

LOOPS = {
    "fedavg": FedAvgLoop,
    "fedprox": FedProxLoop,
    "scaffold": ScaffoldLoop,
    "feddyn": FedDynLoop,
    "fedadmm": FedAdmmLoop,
    "a-fedpd": AFedPdLoop,
    "fedpd": FedPdLoop,
    "scaffnew": ScaffnewLoop,
}


def trials_of(method, **options):
    asked = {"clients": 4, "dimension": 2, "rounds": 5, "seeds": 1, "participants": 2, "unequal": True}
    return make_trials(listed(method), listed(method).telling, **(asked | options))[0]


# ---- correct implementations --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", LOOPS)
def test_correct_loops_conform(method) -> None:
    found = conform(LOOPS[method](), method)
    assert found.agreement == "double" and found.first is None and not found.causes and not found.differs_in
    assert max(found.largest.values()) < 1e-14
    assert not set(found.not_noticed) - {"server step 1 in place of server_lr"}, "every known mistake would be noticed"
    assert found.mistakes_tried == len(find_mistakes(listed(method), listed(method).telling)) >= 9
    assert "CONFORMS up to rounding in double precision" in str(found)


@pytest.mark.parametrize(
    ("loop", "bug", "method"),
    [
        (ScaffoldLoop, "option I", "scaffold-gradient"),
        (FedDynLoop, "old dual", "feddyn-printed"),
        (FedAdmmLoop, "mean over active", "fedadmm-active"),
    ],
)
def test_variants_conform_to_their_own_entry(loop, bug, method) -> None:
    assert conform(loop(bug), method).agreement == "double"


@pytest.mark.parametrize(("clients", "dimension", "participants"), [(2, 1, 1), (7, 4, 5)])
def test_sizes_do_not_matter(clients, dimension, participants) -> None:
    found = conform(
        ScaffoldLoop(), "scaffold", clients=clients, dimension=dimension, participants=participants, rounds=8
    )
    assert found.agreement == "double"


class Echo:
    """The reference itself as an implementation, with every variable of its state."""

    def __init__(self, entry):
        self.entry = entry
        any_state = entry.build(**entry.telling).init(random_quadratics(2, 3), np.zeros((1, 3)))
        self.variables = {name: name for name in list_variables(any_state)}

    def start(self, task):
        values = vars(task.settings) | {"steps": np.array(task.steps) if len(set(task.steps)) > 1 else task.steps[0]}
        values = {name: value for name, value in values.items() if name in self.entry.uses}
        self.algorithm = self.entry.build(**values)
        self.problem = Quadratic(task.A.copy(), task.b.copy())
        if task.server is not None:
            self.problem = ServerAssisted(self.problem, Quadratic(task.server.A[None], task.server.b[None]))
        if task.regulariser is not None:
            self.problem = regularised(self.problem, task.regulariser.h)
        self.now = self.algorithm.init(self.problem, task.x0[None, :].copy())
        return list_variables(self.now)

    def round(self, asked):
        clients = None if len(asked.active) == self.problem.n else Clients(self.problem.n, np.array(asked.active))
        key = ScriptedKey(asked.number, asked.coins)
        self.now = self.algorithm.round(self.problem, self.now, clients, key)
        return list_variables(self.now)


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda entry: entry.name)
def test_every_listed_method_conforms_to_itself(entry) -> None:
    """Also those with coins, personal models, momentum, regularisers, server data."""
    found = conform(Echo(entry), entry.name, seeds=1, rounds=4)
    assert found.agreement == "double" and not found.not_compared


def test_exact_local_work() -> None:
    """The quadratics come with the task, for implementations that solve."""

    class ExactProx(Loop):
        def round(self, asked):
            t, rho = self.t, self.s.rho
            self.x = np.mean(
                [np.linalg.solve(t.A[i] + rho * np.eye(t.d), t.b[i] + rho * self.x) for i in asked.active], 0
            )
            return self.state()

    found = conform(ExactProx(), "fedprox", values={"exact": True})
    assert found.agreement == "double" and any("unequal local steps" in what for what in found.left_out)
    assert not conform(FedProxLoop(), "fedprox", values={"exact": True}).conforms


@pytest.mark.parametrize("method", ["fedavg", "scaffold", "feddyn"])
def test_single_precision_is_not_a_fault(method) -> None:
    """Code in float32 gets a statement of its precision; with a mistake in it, the mistake is still named."""
    found = conform(LOOPS[method](dtype=np.float32), method)
    assert found.agreement == "single" and found.single and 1e-9 < max(found.largest.values()) < 1e-5
    assert "its arrays are in single precision" in str(found)


def test_a_mistake_in_single_precision_is_named() -> None:
    found = conform(ScaffoldLoop("no 1/K", dtype=np.float32), "scaffold")
    assert [cause.names for cause in found.causes] == [("no 1/K in the control update",)]


def test_rounding_in_the_middle_is_said_not_blamed() -> None:
    class Rounded(ScaffoldLoop):
        def round(self, asked):
            state = super().round(asked)
            self.x = self.x.astype(np.float32).astype(float)
            return state

    found = conform(Rounded(), "scaffold")
    assert found.agreement == "single" and not found.single
    assert "its arrays are in double precision, but something in it is not" in str(found)


# ---- mistakes -----------------------------------------------------------------------------------------------------

#: planted bug -> the mistake it must be called
BUGS = {
    ("fedavg", "not reset"): "model not reset between clients",
    ("fedavg", "mean over all"): "mean over all instead of active clients",
    ("fedavg", "weights"): "clients weighed by their local steps",
    ("fedavg", "sum"): "sum instead of mean",
    ("fedavg", "K + 1"): "K + 1 local steps",
    ("fedavg", "K - 1"): "K - 1 local steps",
    ("fedprox", "factor 2"): "rho ||x - z||^2 in place of (rho/2) ||x - z||^2, rho doubled everywhere",
    ("fedprox", "factor 1/2"): "rho/2 in place of rho everywhere",
    ("fedprox", "sign"): "proximal sign",
    ("scaffold", "no 1/K"): "no 1/K in the control update",
    ("scaffold", "no 1/lr"): "no 1/lr in the control update",
    ("scaffold", "largest K"): "largest K in the control update",
    ("scaffold", "K + 1"): "K + 1 in the control update",
    ("scaffold", "sign of correction"): "sign of the correction",
    ("scaffold", "no correction"): "no correction",
    ("scaffold", "after"): "control update with the new server model",
    ("scaffold", "no c in update"): "server control left out of the control update",
    ("scaffold", "sends c_i"): "new c_i sent instead of its change",
    ("scaffold", "no m/n"): "no m/n in the server control",
    ("scaffold", "server keeps"): "server control never updated",
    ("scaffold", "clients keep"): "client controls never updated",
    ("scaffold", "mean over all"): "mean over all instead of active clients",
    ("scaffold", "no server step"): "server step 1 in place of server_lr",
    ("feddyn", "sign in local work"): "sign of the dual in local work",
    ("feddyn", "local factor 2"): "local penalty doubled",
    ("feddyn", "sign of dual step"): "sign of the dual step",
    ("feddyn", "no rho"): "dual step without rho",
    ("feddyn", "subtracted once"): "server model subtracted once",
    ("feddyn", "over active"): "server dual over active clients",
    ("feddyn", "mean over all"): "mean over all instead of active clients",
    ("fedadmm", "factor 2"): "local penalty doubled",
    ("fedadmm", "sign of dual step"): "sign of the dual step",
    ("fedadmm", "stale dual"): "stale dual sent",
    ("fedadmm", "models only"): "server averages models only",
    ("a-fedpd", "no dual"): "no dual at the server",
    ("fedpd", "factor 2"): "local penalty doubled",
    ("fedpd", "sign"): "sign of the dual step",
    ("fedpd", "times eta"): "dual step multiplied by eta",
    ("fedpd", "stale dual"): "stale dual sent",
    ("fedpd", "from the copy"): "local work from the server's copy",
    ("scaffnew", "sign"): "sign of the correction",
    ("scaffnew", "no p"): "no p in the control update",
}


@pytest.mark.parametrize(
    ("method", "bug"),
    [pytest.param(method, bug, id=f"{method}-{bug}") for method, bug in BUGS],
)
def test_mistakes_are_named(method, bug) -> None:
    found = conform(LOOPS[method](bug), method, seeds=2)
    assert not found.conforms and found.first is not None and found.differs_in
    assert [cause.names for cause in found.causes] == [(BUGS[method, bug],)], "named, and nothing else is blamed"
    assert BUGS[method, bug] in str(found) and "DIFFERS" in str(found)


#: the first listed method of every class with known mistakes, and one with SAM's steps
EXAMINED = [*{e.kind: e.name for e in reversed(ALGORITHMS) if find_code_mistakes(e.kind)}.values(), "fedsam"]


@pytest.mark.parametrize("method", EXAMINED)
def test_every_listed_mistake_is_told_from_all_others(method) -> None:
    """Trajectories of all mistakes of a method are pairwise different, so a name means one thing."""
    entry, ways = listed(method), {}
    known = find_mistakes(entry, entry.telling)
    trials = trials_of(method, clients=5, dimension=3, participants=3, rounds=4)
    chosen = trials[-4:] if trials[-1].penalty else trials[-1:]
    for mistake in known:
        ways[mistake.name] = [
            play_reference(build_as_printed(entry, trial.values, (mistake,)), trial).states for trial in chosen
        ]
    assert len(ways) == len(known), "names are distinct"
    if method == "fedsam":  # these need unequal steps, which SAM's do not take
        del ways["clients weighed by their local steps"], ways["every client takes the local steps of the busiest"]
    for (one, ours), (other, theirs) in itertools.combinations(ways.items(), 2):
        off = max(
            float(np.max(measure_differences(x, y, name))) for x, y in zip(ours, theirs, strict=True) for name in x[0]
        )
        assert off > 1e-3, (method, one, other)


def test_edits_fit_the_code_they_edit() -> None:
    """The text of every edit occurs once in its class, changes it, and can be shown as a difference."""
    for entry in ALGORITHMS:
        algorithm = entry.build(**entry.telling)
        for mistake in (*find_code_mistakes(entry.kind), *filter(None, [find_print(entry.kind)])):
            lines = show_difference(algorithm, (mistake,))
            assert {line[0] for line in lines} <= {"+", "-"} and lines, (entry.name, mistake.name)
            assert "#" not in "".join(lines)
    of_options = [m for entry in ALGORITHMS for option in entry.options for m in find_option_mistakes(option)]
    assert of_options and all(m.option is not None and not m.old for m in of_options)
    with pytest.raises(StaleMistake, match="'m' of FedAvg finds its text 'no such text' 0 times"):
        build_mistaken(listed("fedavg"), {}, (Mistake("m", "no such text", ""),))


@pytest.mark.parametrize("method", ["scaffold", "feddyn"])
def test_the_printed_increments_are_the_reference(method) -> None:
    """Averages written as increments, as in the papers, are the reference's averages from the paper's start."""
    for trial in trials_of(method):
        ours, printed = (
            play_reference(build(listed(method), trial.values), trial).states
            for build in (lambda e, values: e.build(**values), build_as_printed)
        )
        for name in ours[0]:
            assert np.max(measure_differences(ours, printed, name)) < 1e-13


def test_starts_at_random_are_seen() -> None:
    """The rounds are the paper's, the start is not; the increments of the paper keep what is wrong with it."""
    found = conform(ScaffoldLoop("random start"), "scaffold")
    assert found.starts == {"c_i": "starts at random, not at zero"}
    assert found.first.round == 0 and found.first.variable == "c_i"
    assert found.updates == {"x": True, "c": True, "c_i": True}
    assert [cause.names for cause in found.causes] == [()]
    assert "it agrees with the reference from another initial state" in str(found)


def test_a_start_that_an_author_chose_is_a_start() -> None:
    found = conform(FedPdLoop("zero duals"), "fedpd")
    silent = "starts at zero, not as in the reference: another choice where the paper is silent (init_dual)"
    assert found.starts == {"lam_i": silent} and [c.names for c in found.causes] == [()]
    assert [v.name for v in found.variants] == ["fedpd with init_dual='zero'"], (
        "the authors' code does this, and says so"
    )


def test_a_start_and_a_mistake_at_once() -> None:
    class Both(ScaffoldLoop):
        def begin(self) -> None:
            self.controls = np.random.default_rng().standard_normal(self.controls.shape)

    found = conform(Both("sends c_i"), "scaffold", seeds=1)
    assert found.starts and [cause.names for cause in found.causes] == [("new c_i sent instead of its change",)]


def test_two_mistakes_at_once_are_both_named() -> None:
    """As in the code that plato had: the whole c_i is sent, and its step is scaled wrongly."""

    class Both(ScaffoldLoop):
        def round(self, asked):
            t, s, x, moves, sent = self.t, self.s, self.x, [], []
            for i in asked.active:
                y = self.descend(i, x, lambda y, i=i: self.c - self.controls[i])
                self.controls[i] = self.controls[i] - self.c + (x - y) / t.steps[i]
                moves.append(y - x)
                sent.append(self.controls[i].copy())
            self.x, self.c = x + s.server_lr * np.mean(moves, 0), self.c + np.sum(sent, 0) / t.n
            return self.state()

    found = conform(Both(), "scaffold", seeds=2)
    assert [cause.names for cause in found.causes] == [
        ("no 1/lr in the control update", "new c_i sent instead of its change")
    ]
    assert found.causes[0].seen == ("https://github.com/TL-System/plato/issues/382",)


def test_an_unknown_mistake_is_located() -> None:
    class Strange(ScaffoldLoop):
        def round(self, asked):
            state = super().round(asked)
            self.c = np.tanh(self.c)
            return state | {"c": self.c}

    found = conform(Strange(), "scaffold", seeds=1)
    assert not found.causes and not found.variants and found.first.variable == "c"
    assert found.updates == {"x": True, "c": False, "c_i": True}
    assert "none of 34 known mistakes, no two of them, and no published variant explains it" in str(found)


@pytest.mark.parametrize(
    ("loop", "bug", "method", "variant"),
    [
        (ScaffoldLoop, "option I", "scaffold", "scaffold-gradient"),
        (FedDynLoop, "old dual", "feddyn", "feddyn-printed"),
        (FedAdmmLoop, "mean over active", "fedadmm", "fedadmm-active"),
        (FedProxLoop, "", "fedavg", "fedprox"),
        (AFedPdLoop, "away keep", "a-fedpd", "feddyn"),
    ],
)
def test_published_variants_are_named(loop, bug, method, variant) -> None:
    found = conform(loop(bug), method, seeds=1)
    assert not found.conforms and variant in [v.name for v in found.variants]
    assert f"it agrees with the published method {variant}" in str(found)


def test_methods_that_coincide_with_all_clients_are_said_to() -> None:
    """With all clients FedDyn is FedADMM: the report says what these trials cannot tell."""
    found = conform(FedDynLoop(), "feddyn", participants=None, unequal=False, seeds=1)
    assert {"fedadmm", "fedadmm-active"} <= {v.name for v in found.variants}
    assert "server dual over active clients" in found.not_noticed
    assert "these trials cannot tell it from fedadmm" in str(found)
    assert found.left_out == ("partial participation: not asked for", "unequal local steps: not asked for")


def test_what_fails_with_unequal_steps_only_is_said_to() -> None:
    found = conform(ScaffoldLoop("largest K"), "scaffold", seeds=1)
    assert found.differs_in == tuple(name for name in found.trials if "[" in name) and len(found.differs_in) == 2
    assert "it agrees in: seed 0, all clients, local steps 4; seed 0, 3 of 5 clients, local steps 4" in str(found)


def test_variables_that_are_not_declared_are_listed() -> None:
    class OnlyModel(ScaffoldLoop):
        variables: ClassVar[dict[str, str]] = {"x": "x"}

    found = conform(OnlyModel(), "scaffold", seeds=1)
    assert found.conforms and found.compared == ("x",) and found.not_compared == ("c", "c_i")
    wrong = conform(OnlyModel("no 1/K"), "scaffold", seeds=1)
    assert wrong.updates is None, "one round cannot be tried from a state that is not known"
    assert [cause.names for cause in wrong.causes] == [("no 1/K in the control update",)]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(NotAvailable, match="sample_grad"):
        conform(FedAvgLoop(), "fedavg", values={"batch": 2})
    with pytest.raises(InvalidInput, match="unknown algorithm 'fedfoo'"):
        conform(FedAvgLoop(), "fedfoo")
    with pytest.raises(InvalidInput, match="participants must lie between 1 and 4"):
        conform(FedAvgLoop(), "fedavg", participants=5)
    with pytest.raises(
        InvalidInput, match=r"fedavg itself diverges \(it reaches .* in seed 0, all clients, local steps 4\)"
    ):
        conform(FedAvgLoop(), "fedavg", values={"lr": 30.0}, rounds=10)
    with pytest.raises(InvalidInput, match="rounds must be at least 1"):
        conform(FedAvgLoop(), "fedavg", rounds=0)


# ---- poor adapters ------------------------------------------------------------------------------------------------


def broken(change):
    """A FedAvg adapter whose rounds end in what ``change(loop, asked)`` returns."""

    class Broken(FedAvgLoop):
        def round(self, asked):
            super().round(asked)
            return change(self, asked) if asked.number == 1 else self.state()

    return Broken()


def _mutate(loop, asked):
    loop.t.x0[:] = 0
    return loop.state()


def _crash(loop, asked):
    return 1 / 0


POOR = {
    "raises": (_crash, r"the adapter raised in its round 2: ZeroDivisionError in test_conformance.py, line \d+: division by zero"),
    "changes its input": (_mutate, r"changed task.x0 in place in its round 2; expected it to work on a copy"),
    "returns no dict": (lambda loop, asked: loop.x, "round 2 returned a ndarray; expected a dict of arrays"),
    "leaves a variable out": (lambda loop, asked: {"w": loop.x}, r"round 2 returned no 'x' \(the reference's x\); it returned w"),
    "shape": (
        lambda loop, asked: {"x": loop.x[:-1]},
        r"'x' \(the reference's x\) of the adapter's round 2: expected .* of shape \(3,\), got shape \(2,\)",
    ),
    "nan": (lambda loop, asked: {"x": loop.x * [1, np.nan, 1]}, r"round 2: expected real numbers of shape \(3,\), got nan in coordinate 1"),
    "strings": (lambda loop, asked: {"x": np.array(["a", "b", "c"])}, "got a ndarray of type <U1"),
    "complex": (lambda loop, asked: {"x": loop.x + 0j}, "got a ndarray of type complex128"),
    "none": (lambda loop, asked: {"x": None}, "round 2: expected real numbers"),
    "ragged": (lambda loop, asked: {"x": [np.zeros(2), np.zeros(3)]}, "got a list that is no array"),
    "gradient at a wrong point": (
        lambda loop, asked: {"x": loop.t.gradients[0](np.zeros((1, 3)))},
        r"round 2: InvalidInput: a gradient was asked for at a point of shape \(1, 3\); expected \(3,\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", POOR)
def test_poor_adapters_get_a_clear_error(name) -> None:
    change, message = POOR[name]
    with pytest.raises(InvalidInput, match=message):
        conform(broken(change), "fedavg", seeds=1)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"c": "c"}, "must be a mapping that has 'x'"),
        (["x"], "must be a mapping that has 'x'"),
        ({"x": "x", "momentum": "m"}, "declares 'momentum', which the reference does not have; it has x"),
        ({"x": ("x", "twice")}, r"declares 'x' as \('x', 'twice'\); expected its own name, or \(own name, factor\)"),
    ],
)
def test_poor_declarations_get_a_clear_error(variables, message) -> None:
    adapter = FedAvgLoop()
    adapter.variables = variables
    with pytest.raises(InvalidInput, match=message):
        conform(adapter, "fedavg")


def test_client_variables_may_be_lists_of_tensors() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Tensors(ScaffoldLoop):
        def state(self):
            return {
                "x": torch.tensor(self.x),
                "c": self.c[None, :],
                "controls": [torch.tensor(c) for c in self.controls],
            }

    assert conform(Tensors(), "scaffold", seeds=1).agreement == "double"


# ---- the command --------------------------------------------------------------------------------------------------

FILE = """
from conformance_loops import FedAvgLoop as _Loop, ScaffoldLoop as _Scaffold


class Mine(_Loop):
    def __init__(self):
        super().__init__("mean over all")
        print("a word of the implementation")


def good():
    return _Scaffold()


instance = _Scaffold()
number = 3


class Needy(_Loop):
    def __init__(self, size):
        pass
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FILE)

    def invoke(*arguments, code):
        result = CliRunner().invoke(main, ["conform", *arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def test_command(call) -> None:
    out = call("mine.py:good", "--method", "scaffold", "--seeds", "1", code=0).stdout
    assert "CONFORMS" in out and "34 of 34 known mistakes would have been detected" in out
    out = call("mine.py:Mine", "--method", "fedavg", "--seeds", "1", code=1).stdout
    assert "it agrees with the reference with this mistake: mean over all instead of active clients" in out
    assert "a word" not in out
    out = call(
        "mine.py:instance",
        "--method",
        "scaffold",
        "--seeds",
        "1",
        "--server-lr",
        "1",
        "--full-participation",
        "--equal-steps",
        code=0,
    ).stdout
    assert "server_lr=1" in out and "not tried: partial participation: not asked for" in out


def test_command_json(call) -> None:
    found = json.loads(call("mine.py:Mine", "--method", "fedavg", "--json", "-", code=1).stdout)
    assert found["conforms"] is False and found["causes"][0]["names"] == ["mean over all instead of active clients"]
    assert found["first"]["variable"] == "x" and found["first"]["round"] == 1
    call("mine.py:good", "--method", "scaffold", "--json", "out/found.json", code=0)
    assert json.loads(Path("out/found.json").read_text())["agreement"] == "double"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("mine.py", "defines Mine, Needy; name one adapter as mine.py:NAME"),
        ("mine.py:Other", "does not define 'Other'; it defines Mine, Needy"),
        ("mine.py:number", "number in mine.py is not an adapter"),
        ("mine.py:Needy", "Needy in mine.py cannot be made without arguments: TypeError"),
        ("none.py:X", "there is no file none.py"),
        ("bad.py", "cannot be read: ZeroDivisionError in bad.py, line 1"),
        ("mine.txt", "there is no file mine.txt"),
    ],
)
def test_command_refuses(call, target, message) -> None:
    Path("bad.py").write_text("1 / 0")
    assert message in call(target, "--method", "fedavg", code=2).stderr


def test_command_refuses_what_a_method_does_not_use(call) -> None:
    assert "fedavg does not use --rho" in call("mine.py:Mine", "--method", "fedavg", "--rho", "2", code=2).stderr


def test_a_file_with_one_adapter_needs_no_name(tmp_path) -> None:
    file = tmp_path / "one.py"
    file.write_text(
        textwrap.dedent("""
        class Only:
            variables = {"x": "x"}

            def start(self, task): ...

            def round(self, asked): ...
    """)
    )
    assert type(load_adapter(str(file))).__name__ == "Only"
    assert isinstance(listed("scaffold").build(), Scaffold)
