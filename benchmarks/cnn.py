"""Training rounds of FedAvg beside a plain PyTorch loop over clients: the same numbers, and what each costs.

The loop is what a careful user writes: one model, `torch.optim.SGD`, a state dict a client, the mean of them. fedtheory runs the algorithm
file on flat vectors, its clients one by one in two memory orders, together (`torch.func.vmap`), and as its own measurement chooses. All take the same
minibatches from the same start, with the images on the device before any clock is read.

CPU time is what counts on a CPU (it stands still while others have the processor), wall time on a GPU: the device is waited for before each clock is
read. TF32 is off on both sides. fedtheory's sums on a GPU are the same in every run; the loop runs once as PyTorch does by default and once so.

    python benchmarks/cnn.py [--device cuda] [--clients 10] [--steps 5] [--batch 50] [--rounds 3] [--repeats 5] [KIND ...]
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
from fedtheory.core.randomness import Key
from fedtheory.local.stochastic import StochasticSteps, draw_samples
from fedtheory.local.subproblem import Subproblem
from fedtheory.running.runner import run
from problems.datasets import Dataset
from problems.networks import network
from problems.networks.architectures import ARCHITECTURES

IMAGES = {"small-cnn": (8, 8), "mcmahan": (28, 28), "femnist": (28, 28), "logistic": (28, 28), "perceptron": (28, 28)}
LR = 0.1
#: how many times faster than the plain loop a round is to be: never slower, and on a GPU
TARGETS = {("cuda", "lenet"): 3.0}
OURS, LOOP = "fedtheory, as measured", "plain PyTorch loop"


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


def plain_loop(f, x0, rounds):
    """FedAvg as one writes it in PyTorch, from x0: a function of nothing that returns the last server model.

    ``rounds``: sample numbers of each round, ``(rounds, clients, steps, batch)``.
    """
    module = module_of(f, x0)
    start = {name: value.clone() for name, value in module.state_dict().items()}
    drawn = torch.from_numpy(rounds + f.first[:, None, None]).to(x0.device)

    def train() -> torch.Tensor:
        server = start
        for clients in drawn:
            mean = {name: torch.zeros_like(value) for name, value in server.items()}
            for client in clients:
                module.load_state_dict(server)
                optimiser = torch.optim.SGD(module.parameters(), lr=LR)
                for index in client:
                    optimiser.zero_grad()
                    torch.nn.functional.cross_entropy(module(f.images[index]), f.labels[index]).backward()
                    optimiser.step()
                for name, value in module.state_dict().items():
                    mean[name] += value / len(clients)
            server = mean
        return torch.cat([value.reshape(-1) for value in server.values()])

    return train


def same_sums(work):
    """The same work with cuDNN's deterministic algorithms, as fedtheory has them."""

    def done():
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
            return work()

    return done


def waited_for(work, device):
    """The same work, over when the device is done with it."""
    if device == "cpu":
        return work

    def done():
        found = work()
        torch.cuda.synchronize()
        return found

    return done


def interleaved(work, repeats):
    """Smallest (CPU, wall) seconds of each, in turns, so that a busy moment of the machine does not fall on one of them alone."""
    for (
        one
    ) in work.values():  # warm: kernels are chosen, memory is had, the plan has measured; nothing is left to wait for
        one()
    found = {name: ([], []) for name in work}
    for _ in range(repeats):
        for name, one in work.items():
            cpu, wall = time.process_time(), time.perf_counter()
            one()
            found[name][0].append(time.process_time() - cpu)
            found[name][1].append(time.perf_counter() - wall)
    return [(name, min(cpu), min(wall)) for name, (cpu, wall) in found.items()]


def told(kind: str, device: str, rows, steps: int) -> str:
    """How many times faster than the loop our steps are, and what was aimed at."""
    which = 2 if device == "cuda" else 1  # wall or CPU seconds
    ours, loop = (next(row[which] for row in rows if row[0] == name) for name in (OURS, LOOP))
    ratio, target = loop / ours, TARGETS.get((device, kind), 1.0)
    return (
        f"  a training step of a client: {ours / steps * 1e3:.3g} ms, of the loop {loop / steps * 1e3:.3g} ms ({'wall' if which == 2 else 'CPU'}): "
        f"{ratio:.2f} times as fast, at least {target:g} is aimed at: {'met' if ratio >= target else 'NOT MET'}"
    )


def measure(kind: str, device: str, n: int, steps: int, batch: int, rounds: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    data = clients_of(kind, n, max(100, batch), rng)
    method = FedAvg(StochasticSteps(steps, LR, batch))
    ways = {
        "one by one": "one by one",
        "channels last": "channels last",
        "together": "together",
        OURS: "measure",
    }

    def job(dtype):
        problems = {name: network(data, kind, device=device, dtype=dtype, together=mode) for name, mode in ways.items()}
        f = problems[OURS]
        x0 = f.initial(0)
        drawn = [draw_samples(Subproblem(f), Key(0, r), steps, batch) for r in range(rounds)]
        loop = plain_loop(f, x0, np.stack(drawn))
        work = {LOOP: loop} | ({"the loop, the same sums in every run": same_sums(loop)} if device == "cuda" else {})
        for name, problem in problems.items():
            work[name] = lambda f=problem: run(method, f, x0, rounds, metrics={}, progress=False).state.x[0]
        return f, x0, {name: waited_for(one, device) for name, one in work.items()}

    for dtype, allowed in (
        ("float64", 1e-9),
        ("float32", None),
    ):  # in single precision, ReLU and pooling take other branches by rounding
        f, x0, work = job(dtype)
        reference = work[LOOP]()
        for name, one in list(work.items())[1:]:
            apart = float((one() - reference).norm() / (reference - x0).norm())
            print(f"  {dtype}, {name}: iterates differ by {apart:.1e} of the step")
            assert allowed is None or apart < allowed, "not the same method"
    rows = [(name, cpu / rounds, wall / rounds) for name, cpu, wall in interleaved(work, repeats)]
    title = f"{kind}: d = {f.d}, {n} clients, {steps} steps of {batch} samples on {device}; a round of {rounds}"
    show(title, rows, LOOP, by_wall=device == "cuda")
    print(told(kind, device, rows, n * steps))
    print("  " + "; ".join(f.plan.report()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="networks [default: small-cnn mcmahan lenet]")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    for option, default in (("clients", 10), ("steps", 5), ("batch", 50), ("rounds", 3), ("repeats", 5)):
        parser.add_argument(f"--{option}", type=int, default=default)
    asked = parser.parse_args()
    if asked.device == "cuda" and not torch.cuda.is_available():
        sys.exit("benchmarks/cnn.py: there is no GPU that PyTorch can use here; leave --device cuda out")
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for kind in asked.kinds or ["small-cnn", "mcmahan", "lenet"]:
        measure(kind, asked.device, asked.clients, asked.steps, asked.batch, asked.rounds, asked.repeats)
