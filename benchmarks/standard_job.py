"""The standard job beside the peers: FedAvg, logistic regression + ridge 1e-2, 100 clients x 50 samples, 5 full-batch steps, 100 rounds.

Float64, one thread; every row must return the same ||w||. JAX and torch rows run here when those are installed. A framework with
dependencies of its own runs in an interpreter of its own: ``--peer fedlab=PATH_TO_PYTHON`` (fedjax, pfl, fedlab; see `peers/`).
"""

from common import best, machine, show  # isort: skip

import json
import subprocess
import tempfile
from pathlib import Path

import click
import numpy as np

from fedtheory import FedAvg, GradientSteps, run
from fedtheory.core.arrays import along_batch
from problems.logistic import Logistic

N, M, K, ROUNDS, L2 = 100, 50, 5, 100, 1e-2
LR = 2.0  # 1/L is about 2.5 for these features


def data(d):
    """Rows b_ik a_ik ``(N, M, d)`` of a planted model with flipped labels, clients' features shifted."""
    rng = np.random.default_rng(0)
    features = (rng.standard_normal((N, M, d)) + 0.5 * rng.standard_normal((N, 1, d))) / np.sqrt(d)
    labels = np.sign(features @ rng.standard_normal(d) + 0.3 * rng.standard_normal((N, M)))
    return np.ascontiguousarray(labels[..., None] * features)


def ours(signed, lr, rounds=ROUNDS):
    """Run the job as a user would; the data's inner products are computed within the time."""
    problem = Logistic(signed, np.full((N, M), 1 / M), l2=L2)
    algorithm = FedAvg(GradientSteps(K, lr))
    trace = run(algorithm, problem, np.zeros(problem.d), rounds, every=rounds, metrics={}, progress=False)
    return np.linalg.norm(trace.state.x[..., 0, :], axis=-1)


def batched_numpy(signed):
    """Every client's steps as two batched products a step."""
    x, transposed = np.zeros(signed.shape[-1]), np.ascontiguousarray(np.swapaxes(signed, -1, -2))
    for _ in range(ROUNDS):
        y = np.broadcast_to(x, (N, x.size))
        for _ in range(K):
            slope = (np.tanh((y[:, None, :] @ transposed) / 2) - 1) / (2 * M)
            y = y - LR * ((slope @ signed)[:, 0] + L2 * y)
        x = y.mean(axis=0)
    return np.linalg.norm(x)


def fused_jax(signed, lrs):
    """The whole run in one compiled function; step sizes under one more vmap."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    a = jnp.asarray(signed)

    def local(x, rows, lr):
        def step(_, y):
            slope = (jnp.tanh(rows @ y / 2) - 1) / (2 * M)
            return y - lr * (slope @ rows + L2 * y)

        return jax.lax.fori_loop(0, K, step, x)

    def everything(a, lr):
        def one_round(x, _):
            return jax.vmap(local, (None, 0, None))(x, a, lr).mean(axis=0), None

        return jax.lax.scan(one_round, jnp.zeros(a.shape[-1]), None, length=ROUNDS)[0]

    job = jax.jit(jax.vmap(everything, (None, 0)) if np.ndim(lrs) else everything)
    return lambda: np.linalg.norm(np.asarray(job(a, lrs)), axis=-1)


def torch_loop(signed):
    """The usual loop: every client gets a copy of the module, an optimiser and automatic differentiation."""
    import copy

    import torch

    torch.set_num_threads(1)
    clients = list(torch.from_numpy(signed))

    def work():
        server = torch.nn.Linear(signed.shape[-1], 1, bias=False, dtype=torch.float64)
        torch.nn.init.zeros_(server.weight)
        for _ in range(ROUNDS):
            uploads = []
            for rows in clients:
                module = copy.deepcopy(server)
                optimiser = torch.optim.SGD(module.parameters(), lr=LR, weight_decay=L2)
                for _ in range(K):
                    optimiser.zero_grad()
                    torch.nn.functional.softplus(-module(rows)).mean().backward()
                    optimiser.step()
                uploads.append(module.state_dict())
            mean = {key: torch.stack([upload[key] for upload in uploads]).mean(dim=0) for key in uploads[0]}
            server.load_state_dict(mean)
        return float(server.weight.detach().norm())

    return work


def peer(name, python, signed, rounds):
    """Time a framework in its own interpreter: (||w||, CPU seconds, wall seconds) for ROUNDS rounds."""
    script = Path(__file__).parent / "peers" / f"{name}_job.py"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.npz"
        np.savez(file, signed=signed, lr=LR, l2=L2, steps=K, rounds=rounds)
        done = subprocess.run([python, str(script), str(file)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"{name} failed:\n{done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return found["norm"], found["cpu"] * ROUNDS / rounds, found["wall"] * ROUNDS / rounds


def one_dimension(d, peers, peer_rounds):
    """All rows for one number of features."""
    signed = data(d)
    reference = float(ours(signed, LR))
    rows = [("fedtheory", *best(lambda: ours(signed, LR)))]
    norms = {"batched NumPy": float(batched_numpy(signed))}
    rows.append(("batched NumPy", *best(lambda: batched_numpy(signed), 3)))
    try:
        job = fused_jax(signed, LR)
        norms["fused JAX, one jit"] = float(job())
        rows.append(("fused JAX, one jit", *best(job)))
    except ImportError:
        print("  (JAX is not installed)")
    try:
        work = torch_loop(signed)
        norms["PyTorch autograd loop"] = work()
        rows.append(("PyTorch autograd loop", *best(work, 1)))
    except ImportError:
        print("  (torch is not installed)")
    worst = max(abs(norm - reference) / reference for norm in norms.values())
    expected = float(ours(signed, LR, peer_rounds))
    for name, python in peers.items():
        norm, cpu, wall = peer(name, python, signed, peer_rounds)
        rows.append((f"{name} (||w|| off by {abs(norm / expected - 1):.0e})", cpu, wall))
    show(f"d = {d}: ||w|| = {reference:.10f} (rows above the peers agree to {worst:.0e})", rows, "fedtheory")


def step_sizes(d=100, count=32):
    """Many step sizes in one call, beside one more vmap."""
    signed, lrs = data(d), np.geomspace(0.02, LR, count)
    found = ours(signed, along_batch(lrs))
    rows = [("fedtheory", *best(lambda: ours(signed, along_batch(lrs)), 3))]
    title = f"d = {d}, {count} step sizes at once"
    try:
        job = fused_jax(signed, lrs)
        title += f" (largest relative difference {np.max(np.abs(job() / found - 1)):.0e})"
        rows.append(("fused JAX, one jit, one more vmap", *best(job, 3)))
    except ImportError:
        print("  (JAX is not installed)")
    show(title, rows, "fedtheory")


@click.command()
@click.option(
    "--peer", "peers", multiple=True, metavar="NAME=PYTHON", help="A framework and the interpreter that has it."
)
@click.option(
    "--peer-rounds",
    default=8,
    show_default=True,
    help="Rounds a framework is timed for; times are scaled to 100 rounds.",
)
def main(peers, peer_rounds):
    """Run the standard job."""
    machine()
    named = dict(item.split("=", 1) for item in peers)
    for d in (100, 1000):
        one_dimension(d, named, peer_rounds)
    step_sizes()


if __name__ == "__main__":
    main()
