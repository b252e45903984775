"""A picture of worst-case functions: level lines of two clients' functions and of the average, with the points the method visits."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.core.errors import require
from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN
from fedtheory.proofs.semidefinite.program import Matrix


def draw_functions(found: WorstCaseForEveryN, points: int = 41) -> Any:
    """Return a matplotlib figure of f_1, f_2 and their average in a plane, for two clients.

    The plane goes through the minimiser (or the start) and holds the two directions along which the visited points and the gradients
    vary most; other coordinates are those of the start. Points are projected on it.
    """
    require("matplotlib", "pictures")
    from matplotlib.figure import Figure

    instance, x0 = found.instance(2)
    plane = _plane(instance.points.reshape(-1, instance.d), instance.grads.reshape(-1, instance.d))
    visited = instance.points @ plane
    size = 1.3 * max(1e-9, float(np.abs(visited).max()))
    line = np.linspace(-size, size, points)
    grid = np.stack(np.meshgrid(line, line, indexing="xy"), axis=-1).reshape(-1, 2) @ plane.T
    values = np.stack([instance.value(x[None, :]) for x in grid]).reshape(points, points, 2)
    fig = Figure(figsize=(9.6, 3.4), layout="constrained")
    panels = fig.subplots(1, 3, sharex=True, sharey=True)
    for k, (axes, title) in enumerate(zip(panels, ("$f_1$", "$f_2$", "average"), strict=True)):
        shown = values.mean(axis=-1) if k == 2 else values[..., k]
        axes.contour(line, line, shown, levels=18, linewidths=0.8)
        axes.set(title=title, aspect="equal")
        for i in (0, 1) if k == 2 else (k,):
            axes.plot(
                *visited[i].T, ".", color="tab:blue" if i == 0 else "tab:orange", label=f"points of client {i + 1}"
            )
        axes.plot(*(x0 @ plane), "k^", label="start")
        if found.measure in ("squared_distance", "gap"):
            axes.plot(0, 0, "k*", label="minimiser of the average")
    panels[2].legend(fontsize="x-small", loc="upper right")
    fig.suptitle(
        f"worst-case functions: {found.measure} = {found.value:.6g} after {found.rounds} rounds", fontsize="medium"
    )
    return fig


def _plane(points: Matrix, grads: Matrix) -> Matrix:
    """Two orthonormal directions ``(d, 2)`` along which the data vary most."""
    data = np.concatenate([points, grads])
    directions = np.linalg.svd(data, full_matrices=True)[2]
    plane = directions[:2].T
    return plane if plane.shape[1] == 2 else np.hstack([plane, np.zeros((len(plane), 2 - plane.shape[1]))])
