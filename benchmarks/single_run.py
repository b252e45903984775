"""One run of FedAvg with 10 local steps beside a NumPy loop over clients, fused JAX and a PyTorch autograd loop.

Logistic regression (n = 100, m = 500, d = 100) and quadratics (n = 1000, d = 100), float64, one thread. All rows return the same
iterates. JAX and torch are needed by this benchmark only.
"""

from common import best, machine, show  # isort: skip

import numpy as np

from fedtheory import FedAvg, GradientSteps, run
from problems.logistic import Logistic
from problems.quadratics import random_quadratics

K, ROUNDS = 10, 5


def ours(problem, lr):
    trace = run(
        FedAvg(GradientSteps(K, lr)), problem, np.zeros(problem.d), ROUNDS, every=ROUNDS, metrics={}, progress=False
    )
    return trace.state.x[0]


def numpy_loop(gradient, clients, d, lr):
    x = np.zeros(d)
    for _ in range(ROUNDS):
        total = np.zeros(d)
        for client in clients:
            y = x
            for _ in range(K):
                y = y - lr * gradient(client, y)
            total += y
        x = total / len(clients)
    return x


def jax_fused(gradient, data, d, lr):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    data = jax.tree.map(jnp.asarray, data)

    def local(x, client):
        return jax.lax.fori_loop(0, K, lambda _, y: y - lr * gradient(client, y), x)

    @jax.jit
    def everything(x, data):
        def one_round(x, _):
            return jax.vmap(local, (None, 0))(x, data).mean(axis=0), None

        return jax.lax.scan(one_round, x, None, length=ROUNDS)[0]

    start = jnp.zeros(d)
    return lambda: np.asarray(everything(start, data))


def torch_loop(loss, clients, d, lr):
    import torch

    torch.set_num_threads(1)
    clients = [tuple(torch.from_numpy(np.ascontiguousarray(a)) for a in client) for client in clients]

    def work():
        x = torch.zeros(d, dtype=torch.float64)
        for _ in range(ROUNDS):
            total = torch.zeros(d, dtype=torch.float64)
            for client in clients:
                y = x.clone().requires_grad_(True)
                for _ in range(K):
                    (g,) = torch.autograd.grad(loss(client, y), y)
                    y = (y - lr * g).detach().requires_grad_(True)
                total += y.detach()
            x = total / len(clients)
        return x.numpy()

    return work


def compare(title, problem, lr, clients, gradient, jax_gradient, data, loss, touched):
    reference = ours(problem, lr)
    rows = [("fedtheory", *best(lambda: ours(problem, lr)))]
    work = {"NumPy loop over clients": lambda: numpy_loop(gradient, clients, problem.d, lr)}
    try:
        work["fused JAX (jit, vmap, scan)"] = jax_fused(jax_gradient, data, problem.d, lr)
    except ImportError:
        print("  (JAX is not installed)")
    try:
        work["PyTorch autograd loop over clients"] = torch_loop(loss, clients, problem.d, lr)
    except ImportError:
        print("  (torch is not installed)")
    worst = 0.0
    for name, job in work.items():
        worst = max(worst, float(np.abs(job() - reference).max()))
        rows.append((name, *best(job, 3)))
    show(f"{title}: {ROUNDS} rounds, K = {K} (largest difference of the iterates {worst:.1e})", rows, "fedtheory")
    print(f"  data passed over at {touched / 1e9 / rows[0][1]:.1f} GB/s")


def logistic():
    n, m, d = 100, 500, 100
    rng = np.random.default_rng(0)
    features = rng.standard_normal((n, m, d)) / np.sqrt(d)
    labels = np.sign(rng.standard_normal((n, m)))
    signed = labels[..., None] * features
    problem = Logistic(signed, np.full((n, m), 1 / m), l2=1e-2)
    lr = 0.5

    def gradient(client, w):
        (a,) = client
        return a.T @ ((np.tanh(a @ w / 2) - 1) / (2 * m)) + 1e-2 * w

    def jax_gradient(a, w):
        import jax.numpy as jnp

        return a.T @ ((jnp.tanh(a @ w / 2) - 1) / (2 * m)) + 1e-2 * w

    def loss(client, w):
        import torch

        (a,) = client
        return torch.nn.functional.softplus(-(a @ w)).mean() + 5e-3 * (w @ w)

    compare(
        f"logistic regression n={n} m={m} d={d}",
        problem,
        lr,
        [(a,) for a in signed],
        gradient,
        jax_gradient,
        signed,
        loss,
        ROUNDS * K * 2 * signed.nbytes,
    )


def quadratics():
    n, d = 1000, 100
    problem = random_quadratics(n, d, seed=0)

    def jax_gradient(client, x):
        a, b = client
        return a @ x - b

    compare(
        f"quadratics n={n} d={d}",
        problem,
        0.5,
        list(zip(problem.A, problem.b, strict=True)),
        lambda client, x: client[0] @ x - client[1],
        jax_gradient,
        (problem.A, problem.b),
        lambda client, x: x @ (client[0] @ x) / 2 - client[1] @ x,
        ROUNDS * K * problem.A.nbytes,
    )


if __name__ == "__main__":
    machine()
    logistic()
    quadratics()
