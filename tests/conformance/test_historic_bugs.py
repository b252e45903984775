"""The bugs that public code had are found and named, without any framework; and correct loops of forty-two methods raise no false alarm."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from compressed_loops import DianaLoop, EF21Loop, ErrorFeedbackLoop, FedPaqLoop, WholeScaffnewLoop
from conformance_loops import (
    AFedPdLoop,
    DualFlLoop,
    FedAdmmLoop,
    FedAvgLoop,
    FedCmLoop,
    FedDynLoop,
    FedPdLoop,
    FedProxLoop,
    FedSamLoop,
    FedSlrLoop,
    ScaffnewLoop,
    ScaffoldLoop,
)
from more_conformance_loops import (
    DittoLoop,
    DualAveragingLoop,
    FedDaneLoop,
    FedDrLoop,
    FedLinLoop,
    FedSplitLoop,
    GradientDescentLoop,
    LocalProximalLoop,
    LocalTrainingLoop,
    NesterovLoop,
    ProximalGradientLoop,
    VrlSgdLoop,
    WeightedFedAvgLoop,
)
from server_loops import (
    FedAdagradLoop,
    FedAdamLoop,
    FedAsyncLoop,
    FedAvgMLoop,
    FedBuffLoop,
    FedBuffWeightsLoop,
    FedExPLoop,
    FedNovaLoop,
    FedVarpLoop,
    FedYogiLoop,
    MifaLoop,
    PFedMeLoop,
)

from fedtheory.algorithms import listed
from fedtheory.command_line.main import main
from fedtheory.conformance.compare import conform

FILE = Path(__file__).resolve().parents[2] / "examples" / "conformance" / "historic_bugs.py"

CORRECT = {
    "a-fedpd": AFedPdLoop,
    "agd": NesterovLoop,
    "compressed-scaffnew": WholeScaffnewLoop,
    "diana": DianaLoop,
    "ditto": DittoLoop,
    "dualfl": DualFlLoop,
    "ef": ErrorFeedbackLoop,
    "ef21": EF21Loop,
    "fedadagrad": FedAdagradLoop,
    "fedadam": FedAdamLoop,
    "fedadmm": FedAdmmLoop,
    "fedasync": FedAsyncLoop,
    "fedavg": FedAvgLoop,
    "fedavg-weighted": WeightedFedAvgLoop,
    "fedavgm": FedAvgMLoop,
    "fedbuff": FedBuffLoop,
    "fedbuff-weights": FedBuffWeightsLoop,
    "fedcm": FedCmLoop,
    "feddane": FedDaneLoop,
    "feddr": FedDrLoop,
    "feddualavg": DualAveragingLoop,
    "feddyn": FedDynLoop,
    "fedexp": FedExPLoop,
    "fedlin": FedLinLoop,
    "fednova": FedNovaLoop,
    "fedpaq": FedPaqLoop,
    "fedpd": FedPdLoop,
    "fedprox": FedProxLoop,
    "fedsam": FedSamLoop,
    "fedslr": FedSlrLoop,
    "fedsplit": FedSplitLoop,
    "fedvarp": FedVarpLoop,
    "fedyogi": FedYogiLoop,
    "gd": GradientDescentLoop,
    "local": LocalTrainingLoop,
    "mifa": MifaLoop,
    "pfedme": PFedMeLoop,
    "lpgd": LocalProximalLoop,
    "pgd": ProximalGradientLoop,
    "scaffnew": ScaffnewLoop,
    "scaffold": ScaffoldLoop,
    "vrl-sgd": VrlSgdLoop,
}


def load_bugs():
    """The example as a module, with its table."""
    spec = importlib.util.spec_from_file_location("historic_bugs", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUGS = load_bugs()


def conform_plainly(adapter, method):
    """Compared as the example says: these implementations have no server step, and constant step sizes."""
    entry = listed(method)
    return conform(adapter, method, values={k: v for k, v in BUGS.OPTIONS.items() if k in entry.uses}, seeds=2)


@pytest.mark.selftest
@pytest.mark.parametrize("adapter", BUGS.EXPECTED, ids=lambda adapter: adapter.__name__)
def test_bugs_of_public_code_are_found_and_named(adapter) -> None:
    method, mistakes, starts = BUGS.EXPECTED[adapter]
    found = conform_plainly(adapter(), method)
    assert not found.conforms and found.first is not None
    assert [cause.names for cause in found.causes] == [mistakes], f"named, and nothing else is blamed: {found}"
    assert tuple(found.starts) == starts
    assert all("random" in how for how in found.starts.values())


def test_every_bug_has_its_adapter() -> None:
    asked = {"Plato382", "Pfllib160", "Pfllib29", "NiidBench8", "NiidBench12", "FedLab319", "FedLab305"}
    assert asked < {adapter.__name__ for adapter in BUGS.EXPECTED}
    assert "torch" not in FILE.read_text() and {name for name in vars(BUGS) if name in sys.modules} <= {"annotations"}


@pytest.mark.parametrize(("adapter", "method"), [("Scaffold", "scaffold"), ("FedDyn", "feddyn")])
def test_the_bugs_are_all_that_is_wrong_with_them(adapter, method) -> None:
    """The classes that the bugs are planted in conform."""
    assert conform_plainly(getattr(BUGS, adapter)(), method).agreement == "double"


def test_an_average_without_weights_is_fedavg_and_not_mcmahans() -> None:
    """Of equal weights the report of issue 305 would be a false alarm; it is none of weights by samples."""
    assert conform_plainly(BUGS.FedLab305(), "fedavg").agreement == "double"
    found = conform_plainly(BUGS.FedLab305(), "fedavg-weighted")
    assert {"fedavg"} <= {variant.name for variant in found.variants}
    assert all("[" not in name for name in found.trials if name not in found.differs_in), "with equal steps they agree"
    assert "https://github.com/SMILELab-FL/FedLab/issues/305" in str(found)


@pytest.mark.selftest
def test_the_command_that_the_example_names() -> None:
    options = ["--method", "scaffold", "--server-lr", "1", "--lr-decay", "1", "--seeds", "1"]
    result = CliRunner().invoke(main, ["conform", f"{FILE}:Plato382", *options])
    assert result.exit_code == 1, result.output
    assert "seen before: https://github.com/TL-System/plato/issues/382" in result.stdout


@pytest.mark.parametrize("method", CORRECT)
def test_correct_loops_raise_no_alarm(method) -> None:
    found = conform(CORRECT[method](), method)
    assert found.agreement == "double" and not found.causes and not found.starts and not found.differs_in, str(found)
    assert max(found.largest.values()) < 1e-13


def test_twenty_methods_at_least() -> None:
    assert len(CORRECT) >= 20 and len(set(CORRECT.values())) == len(CORRECT)
