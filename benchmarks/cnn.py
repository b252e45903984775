"""A training round of FedAvg beside a plain PyTorch loop over clients: the same numbers, and what each costs.

The loop is what a careful user writes: one model, `torch.optim.SGD`, a state dict a client, the mean of them. fedtheory runs the algorithm
file on flat vectors, its clients one by one in two memory orders, together (`torch.func.vmap`), and as its own measurement chooses. All take the same
minibatches from the same start. On a GPU the loop runs as PyTorch does by default but for TF32, which is off on both sides.

    python benchmarks/cnn.py [--device cuda] [--clients 10] [--steps 5] [--batch 50] [--repeats 5] [KIND ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import numpy as np

try:
    import torch
except ImportError:
    print("benchmarks/cnn.py: torch is not installed (pip install 'fedtheory[cnn]')")
    sys.exit(0)
from common import show  # sets one thread before NumPy and torch are imported

from fedtheory.algorithms import FedAvg
from fedtheory.local import Subproblem
from fedtheory.randomness import Key
from fedtheory.runner import run
from fedtheory.stochastic import StochasticSteps, draw_samples
from problems.datasets import Dataset
from problems.networks import network
from problems.networks.architectures import ARCHITECTURES

IMAGES = {"small-cnn": (8, 8), "mcmahan": (28, 28), "femnist": (28, 28), "logistic": (28, 28), "perceptron": (28, 28)}
LR = 0.1


def clients_of(kind: str, n: int, samples: int, rng: np.random.Generator) -> list[Dataset]:
    """Random images: what is timed does not depend on what is on them."""
    shape = IMAGES.get(kind, (32, 32, 3))
    classes = tuple("0123456789")
    return [
        Dataset(
            rng.random((samples, int(np.prod(shape))), dtype=np.float32),
            rng.integers(0, 10, samples),
            "noise",
            shape,
            classes,
        )
        for _ in range(n)
    ]


def module_of(f, x):
    """The network as an ordinary module with parameters x."""
    module = ARCHITECTURES[f.architecture.kind](torch.nn, f.architecture).to(x.device)
    torch.nn.utils.vector_to_parameters(x.clone(), module.parameters())
    return module


def plain_loop(f, x0, samples):
    """FedAvg as one writes it in PyTorch: a round as a function of nothing that returns the new server model."""
    module = module_of(f, x0)
    start = {name: value.clone() for name, value in module.state_dict().items()}
    drawn = torch.from_numpy(samples + f.first[:, None, None]).to(x0.device)

    def round_() -> torch.Tensor:
        mean = {name: torch.zeros_like(value) for name, value in start.items()}
        for client in drawn:
            module.load_state_dict(start)
            optimiser = torch.optim.SGD(module.parameters(), lr=LR)
            for index in client:
                optimiser.zero_grad()
                torch.nn.functional.cross_entropy(module(f.images[index]), f.labels[index]).backward()
                optimiser.step()
            for name, value in module.state_dict().items():
                mean[name] += value / len(drawn)
        return torch.cat([value.reshape(-1) for value in mean.values()])

    return round_


def synchronised(work, device):
    def timed():
        found = work()
        if device == "cuda":
            torch.cuda.synchronize()
        return found

    return timed


def interleaved(work, repeats):
    """Smallest (CPU, wall) seconds of each, in turns, so that a busy moment of the machine does not fall on one of them alone."""
    for one in work.values():
        one()
    found = {name: ([], []) for name in work}
    for _ in range(repeats):
        for name, one in work.items():
            cpu, wall = time.process_time(), time.perf_counter()
            one()
            found[name][0].append(time.process_time() - cpu)
            found[name][1].append(time.perf_counter() - wall)
    return [(name, min(cpu), min(wall)) for name, (cpu, wall) in found.items()]


def measure(kind: str, device: str, n: int, steps: int, batch: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    data = clients_of(kind, n, max(100, batch), rng)
    method, key = FedAvg(StochasticSteps(steps, LR, batch)), Key(0, 0)
    ways = {
        "one by one": "one by one",
        "channels last": "channels last",
        "together": "together",
        "fedtheory, as measured": "measure",
    }

    def job(dtype):
        problems = {name: network(data, kind, device=device, dtype=dtype, together=mode) for name, mode in ways.items()}
        f = problems["fedtheory, as measured"]
        x0 = f.initial(0)
        loop = plain_loop(f, x0, draw_samples(Subproblem(f), key, steps, batch))
        work = {"plain PyTorch loop": synchronised(loop, device)}
        for name, problem in problems.items():
            work[name] = synchronised(
                lambda f=problem: run(method, f, x0, 1, metrics={}, progress=False).state.x[0], device
            )
        return f, x0, work

    for dtype, allowed in (
        ("float64", 1e-9),
        ("float32", None),
    ):  # in single precision, ReLU and pooling take other branches by rounding
        f, x0, work = job(dtype)
        reference = work["plain PyTorch loop"]()
        for name, one in list(work.items())[1:]:
            apart = float((one() - reference).norm() / (reference - x0).norm())
            print(f"  {dtype}, {name}: iterates differ by {apart:.1e} of the step")
            assert allowed is None or apart < allowed, "not the same method"
    rows = interleaved(work, repeats)
    show(f"{kind}: d = {f.d}, {n} clients, {steps} steps of {batch} samples on {device}", rows, "plain PyTorch loop")
    print("  " + "; ".join(f.plan.report()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="networks [default: small-cnn mcmahan lenet]")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    for option, default in (("clients", 10), ("steps", 5), ("batch", 50), ("repeats", 5)):
        parser.add_argument(f"--{option}", type=int, default=default)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for kind in asked.kinds or ["small-cnn", "mcmahan", "lenet"]:
        measure(kind, asked.device, asked.clients, asked.steps, asked.batch, asked.repeats)
