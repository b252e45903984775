"""The same work by NumPy, PyTorch and CuPy, on the CPU and on a GPU: sweeps, the falsifier, a training step. It checks that the numbers agree.

- sweep: FedAvg with 5 local steps on quadratics, n = 100, d = 20, 20 rounds; 64 and 4096 runs (seeds times step sizes) in one call.
- instances, falsifier: 10 rounds of FedAvg on 10^5 and 10^6 scalar instances in one call, and a whole search over as many.
- cnn: a round of FedAvg with minibatches on a network, 10 clients, beside a plain PyTorch loop (see `cnn.py`).

A line a measurement goes to the terminal and to a CSV file: device, library, versions, problem, sizes, seconds, ratio, largest_difference.
Seconds are of the wall clock, the best of some repeats after a warm-up, over when the result is on the host. The ratio is the
reference's seconds (NumPy's; for networks the plain loop's on the same device) over these: above 1 is faster. The difference is the
largest of the result from the reference's, relative to the largest number there (of networks: to the step, in double precision).
What is not installed, or finds no GPU, is a line that says so. A job that fails, or differs by more than rounding, is told, and
the exit status is 1. One thread on the CPU, unless OMP_NUM_THREADS and the like say otherwise.

    python benchmarks/gpu.py [--small] [--csv gpu.csv] [--repeats 3] [JOB ...]

It needs NumPy, SciPy, psutil, lazy-loader and array-api-compat, and what it measures: CuPy, PyTorch. See README.md beside it.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
import common  # noqa: F401  (sets one thread before NumPy is imported)
import numpy as np

from fedtheory.algorithms.fedavg import FedAvg
from fedtheory.core.arrays import along_batch, to_numpy
from fedtheory.core.errors import FedtheoryError
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures.metrics import squared_distance
from fedtheory.running.falsifier import Search, falsify
from fedtheory.running.runner import run
from fedtheory.tools.devices import SHOWN, Placement, choose_place, look_for
from problems.quadratics import Quadratic, random_quadratics

ASKED = (("cpu", "numpy"), ("cpu", "torch"), ("cuda", "torch"), ("cuda", "cupy"))
COLUMNS = ("device", "library", "versions", "problem", "sizes", "seconds", "ratio", "largest_difference")
ALLOWED = 1e-9  #: difference that is put down to rounding

Work = Callable[[], Any]  # returns what is compared, as an array of NumPy's


def placements() -> Iterator[Placement]:
    """Those that are here; a line for each that is not."""
    for device, library in ASKED:
        try:
            yield choose_place(device, library)
        except FedtheoryError as error:
            print(f"skipped: {SHOWN[library]} on {device}: {error}")


def device_name(place: Placement) -> str:
    """A GPU's name, or the kind of processor and the threads that BLAS and PyTorch may use."""
    threads = os.environ["OMP_NUM_THREADS"]  # which `common` sets to one where it is not set
    return look_for(place.library).gpus[0].name if place.is_gpu else f"CPU {platform.machine()}, threads: {threads}"


def versions(place: Placement) -> str:
    """Of Python and of the array libraries."""
    found = [f"python {platform.python_version()}", f"numpy {np.__version__}"]
    return "; ".join(
        found + ([] if place.library == "numpy" else [f"{place.library} {look_for(place.library).version}"])
    )


def best_wall(work: Work, repeats: int) -> tuple[float, Any]:
    """Smallest wall seconds after a warm-up, and the result."""
    found, seconds = work(), []
    for _ in range(repeats):
        begun = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - begun)
    return min(seconds), found


def difference(found: Any, reference: Any) -> float:
    """The largest one, relative to the largest number of the reference."""
    return float(np.max(np.abs(found - reference)) / np.max(np.abs(reference)))


# ---- sweeps -----------------------------------------------------------------------------------------------------------


def sweep(runs: int, place: Placement) -> Work:
    """``runs`` runs of FedAvg, as many seeds (of the starts) as step sizes; their last models."""
    side = int(np.sqrt(runs))
    f = place.move(random_quadratics(100, 20, seed=0))
    x0 = place.array(np.random.default_rng(0).standard_normal((side, 1, 20)))
    method = FedAvg(GradientSteps(5, along_batch(np.linspace(0.05, 1.0, side)[None], x0)))
    return lambda: to_numpy(run(method, f, x0, 20, every=20, progress=False).state.x)


# ---- the falsifier ----------------------------------------------------------------------------------------------------


def search(place: Placement) -> Search:
    """How far FedAvg with two local steps is from x* after 10 rounds, relative to the start, on three scalar quadratics."""

    def sample(rng: np.random.Generator, count: int) -> dict[str, Any]:
        return {
            "h": rng.uniform(0.05, 1, (count, 3)),
            "c": rng.standard_normal((count, 3)),
            "x0": rng.standard_normal((count, 1)),
            "lr": rng.uniform(0.05, 1, count),
        }

    def ratio(c: dict[str, Any]) -> Any:
        h, lr = np.clip(c["h"], 0.05, 1), np.clip(c["lr"], 0.05, 1)
        x_star = (h * c["c"]).mean(-1, keepdims=True) / h.mean(-1, keepdims=True)
        f = place.move(Quadratic(h[..., None, None], (h * c["c"])[..., None]))
        x0 = place.array(c["x0"])
        measured = {"d": squared_distance(place.array(x_star[:, None]))}
        trace = run(
            FedAvg(GradientSteps(2, along_batch(lr, x0))), f, x0, 10, metrics=measured, every=10, progress=False
        )
        return trace["d"][:, -1] / (trace["d"][:, 0] + ((c["c"] - x_star) ** 2).mean(-1))

    return Search(sample, ratio)


def instances(count: int, place: Placement) -> Work:
    """The ratios of so many instances in one call."""
    looked_for = search(place)
    candidates = looked_for.sample(np.random.default_rng(0), count)
    return lambda: looked_for.ratio(candidates)


def falsifier(count: int, place: Placement) -> Work:
    """A whole search over so many instances, half of them random in one call and half around the worst; the worst ratio."""
    return lambda: np.array([falsify(search(place), count, batch=count).ratio])


#: name -> sizes (of --small), how it is made, what its size counts
JOBS: dict[str, tuple[tuple[int, ...], tuple[int, ...], Callable[[int, Placement], Work], str]] = {
    "sweep": ((64, 4096), (16,), sweep, "runs"),
    "instances": ((10**5, 10**6), (200,), instances, "instances"),
    "falsifier": ((10**5, 10**6), (200,), falsifier, "instances"),
}


def measure(job: str, size: int, places: list[Placement], repeats: int) -> Iterator[dict[str, Any]]:
    """Lines of one job at one size, NumPy's first; a line with an ``error`` where it failed."""
    make, unit = JOBS[job][2:]
    base = None
    for place in places:
        line = {"device": device_name(place), "library": place.library, "versions": versions(place), "problem": job}
        line["sizes"] = f"{size} {unit}"
        try:
            seconds, found = best_wall(make(size, place), repeats)
        except Exception as error:  # one library's failure must not take the others' numbers away
            yield line | {"error": f"{type(error).__name__}: {error}"}
            continue
        base = base or (seconds, found)
        apart = difference(found, base[1])
        line |= {"seconds": f"{seconds:.4g}", "ratio": f"{base[0] / seconds:.3g}", "largest_difference": f"{apart:.1e}"}
        yield line | ({} if apart <= ALLOWED else {"error": f"differs by {apart:.1e}, more than {ALLOWED:.0e}"})


# ---- networks ---------------------------------------------------------------------------------------------------------


def train(places: list[Placement], repeats: int, small: bool) -> Iterator[dict[str, Any]]:
    """A round of FedAvg with minibatches on a network, ours and the plain loop's, wherever PyTorch is."""
    places = [place for place in places if place.library == "torch"]
    if not places:
        print("skipped: cnn: PyTorch is not here")
        return
    from cnn import clients_of, plain_loop, waited_for  # needs PyTorch

    from fedtheory.core.randomness import Key
    from fedtheory.local.stochastic import StochasticSteps, draw_samples
    from fedtheory.local.subproblem import Subproblem
    from problems.networks import network

    kind, clients, steps, batch = ("small-cnn", 3, 2, 8) if small else ("lenet", 10, 5, 50)
    data = clients_of(kind, clients, max(100, batch), np.random.default_rng(0))
    method = FedAvg(StochasticSteps(steps, 0.1, batch))

    def pair(dtype: str, device: str) -> tuple[Any, Work, Work]:
        f = network(data, kind, device=device, dtype=dtype)
        x0 = f.initial(0)
        drawn = draw_samples(Subproblem(f), Key(0, 0), steps, batch)[None]

        def ours() -> Any:
            return run(method, f, x0, 1, metrics={}, progress=False).state.x[0]

        return x0, waited_for(plain_loop(f, x0, drawn), device), waited_for(ours, device)

    for place in places:
        common_part = {"device": device_name(place), "library": place.library, "versions": versions(place)}
        common_part["sizes"] = f"{kind}, {clients} clients, {steps} steps of {batch}"
        try:
            x0, loop, ours = pair("float64", place.device)
            reference = loop()
            apart = float((ours() - reference).norm() / (reference - x0).norm())
            _, loop, ours = pair("float32", place.device)
            timed = {"cnn, plain loop": best_wall(loop, repeats)[0], "cnn": best_wall(ours, repeats)[0]}
        except Exception as error:
            yield common_part | {"problem": "cnn", "error": f"{type(error).__name__}: {error}"}
            continue
        for problem, seconds in timed.items():
            line = common_part | {"problem": problem, "seconds": f"{seconds:.4g}"}
            line["ratio"] = f"{timed['cnn, plain loop'] / seconds:.3g}"
            line["largest_difference"] = f"{apart if problem == 'cnn' else 0:.1e}"
            wrong = problem == "cnn" and apart > ALLOWED
            yield line | ({"error": f"differs by {apart:.1e}, more than {ALLOWED:.0e}"} if wrong else {})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", metavar="JOB", choices=[[], *JOBS, "cnn"], help="which [default: all]")
    parser.add_argument("--small", action="store_true", help="sizes that take seconds on a CPU: whether it runs")
    parser.add_argument("--csv", type=Path, default=Path("gpu.csv"))
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args(arguments)
    chosen = asked.jobs or [*JOBS, "cnn"]
    places = list(placements())
    failed = False
    asked.csv.parent.mkdir(parents=True, exist_ok=True)
    with asked.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for job in chosen:
            sizes = () if job == "cnn" else JOBS[job][1 if asked.small else 0]
            lines = (line for size in sizes for line in measure(job, size, places, asked.repeats))
            for line in train(places, asked.repeats, asked.small) if job == "cnn" else lines:
                said = f"{line['problem']:16s} {line['sizes']:34s} {line['library']:6s} {line['device']:28s}"
                if "seconds" in line:
                    said += f" {line['seconds']:>9s} s  x{line['ratio']:6s} apart {line['largest_difference']}"
                    writer.writerow(line)
                    file.flush()  # what was measured stays, whatever comes
                if "error" in line:
                    failed = True
                    said += f"  FAILED: {line['error']}"
                print(said, flush=True)
    print(f"written: {asked.csv}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
