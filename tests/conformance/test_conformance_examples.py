"""The conformance examples: each says of its framework's code what it should. Frameworks that are not installed are skipped."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from fedtheory.conformance.adapters import load_adapter
from fedtheory.conformance.compare import conform

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "conformance"
pytestmark = pytest.mark.filterwarnings("ignore")  # what frameworks warn of while they load is not about this project
CONSTANT = {"lr_decay": 1}  # the examples have constant step sizes
PACKAGES = {"pytorch_loop": "torch", "flower_app": "flwr", "fedlab_algorithms": "fedlab"}


def compared(file, name, method):
    if importlib.util.find_spec(PACKAGES[file]) is None:
        pytest.skip(f"{PACKAGES[file]} is not installed")
    return conform(load_adapter(f"{FOLDER / file}.py:{name}"), method, values=CONSTANT)


@pytest.mark.parametrize(
    ("file", "name", "method", "agreement"),
    [
        ("pytorch_loop", "FedAvg", "fedavg", "double"),
        ("pytorch_loop", "FedAvgFloat32", "fedavg", "single"),
        ("pytorch_loop", "Scaffold", "scaffold", "double"),
        ("pytorch_loop", "FedDyn", "feddyn", "double"),
        ("flower_app", "FedAvg", "fedavg", "double"),
        ("flower_app", "FedProx", "fedprox", "double"),
        ("flower_app", "Scaffold", "scaffold", "double"),
        # FedLab 1.3.0 averages with weights in single precision, whatever the models are
        ("fedlab_algorithms", "FedAvg", "fedavg", "single"),
        ("fedlab_algorithms", "FedProx", "fedprox", "single"),
        ("fedlab_algorithms", "Scaffold", "scaffold", "single"),
    ],
)
def test_examples_conform(file, name, method, agreement) -> None:
    found = compared(file, name, method)
    assert found.agreement == agreement, str(found)
    assert found.not_noticed == ("step sizes do not decay",)


@pytest.mark.parametrize(
    ("file", "name", "method", "mistakes"),
    [
        ("pytorch_loop", "ScaffoldWithoutK", "scaffold", ("no 1/K in the control update",)),
        ("flower_app", "FedAvgByExamples", "fedavg", ("clients weighed by their local steps",)),
        # FedLab 1.3.0 as it is released
        (
            "fedlab_algorithms",
            "FedDyn",
            "feddyn",
            ("neither dual nor penalty in local work", "server model subtracted once"),
        ),
    ],
)
def test_examples_with_mistakes_are_named(file, name, method, mistakes) -> None:
    found = compared(file, name, method)
    assert [cause.names for cause in found.causes] == [mistakes], str(found)


def test_fedlabs_feddyn_is_feddyn_once_both_mistakes_are_mended() -> None:
    """What the report says of FedLab's FedDyn is so: with one of the two mended the other is left, with both mended it conforms."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("fedlab", reason="FedLab is not installed")
    Adapter = type(load_adapter(f"{FOLDER / 'fedlab_algorithms.py'}:FedDyn"))

    class Server(Adapter.handler):
        def global_update(self, buffer):
            models, before = [package[0] for package in buffer], self.model_parameters
            self.h = self.h - self.alpha / self.num_clients * sum(model - before for model in models)
            self.set_model(sum(models) / len(models) - self.h / self.alpha)

    class Trainer(Adapter.trainer):
        def train(self, id, model_parameters, train_loader):
            dual = torch.zeros_like(model_parameters) if self.L[id] is None else self.L[id]
            self.set_model(model_parameters)
            for gradient, _ in train_loader:
                self.optimizer.zero_grad()
                w = self._model.w
                (self._model(gradient) - dual @ w + self.alpha / 2 * ((w - model_parameters) ** 2).sum()).backward()
                self.optimizer.step()
            self.L[id] = dual - self.alpha * (self.model_parameters - model_parameters)
            return [self.model_parameters]

    def mended(**parts):
        return conform(type("Mended", (Adapter,), parts)(), "feddyn", values=CONSTANT)

    assert [c.names for c in mended(handler=Server).causes] == [("neither dual nor penalty in local work",)]
    assert [c.names for c in mended(trainer=Trainer).causes] == [("server model subtracted once",)]
    assert mended(handler=Server, trainer=Trainer).conforms
