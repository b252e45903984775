"""Gradient noise of bounded variance: what expectations of inner products with independent, zero-mean vectors are known to be.

Points of a noisy run are random vectors; interpolation conditions hold in every outcome, hence in expectation, and S and Q become Gram
matrices of expectations. A draw xi_i of client i, with E ||xi_i||^2 <= sigma^2, is independent of the other clients' draws and of all that
came before, so that for every vector v_i

    E <xi_i, v_j> = 0 for all i, j       where v does not depend on the draw,
    E <xi_i, v_j> = 0 for i != j         where client i's vector depends on client i's draw alone (before clients meet).

As long as no function is evaluated at a point that depends on a draw, nothing is lost. Otherwise the conditions between different outcomes
are left out, as is usual (Taylor and Bach 2019), and the value is an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterable

from fedtheory.proofs.every_n.conditions import Conditions
from fedtheory.proofs.every_n.oracles import Evaluation, Leaves
from fedtheory.proofs.every_n.vectors import Form, Number, Vector, divide, square


class Noise:
    """Draws of one run."""

    def __init__(self, leaves: Leaves, sigma: Number, n: Number) -> None:
        self.leaves = leaves
        self.sigma = sigma
        self.n = n
        self.draws: list[Vector] = []
        self._leaf: dict[int, int] = {}  # mean leaf -> number of the draw

    def __call__(self) -> Vector:
        """A fresh draw."""
        self._leaf[self.leaves.mean] = len(self.draws)
        self.draws.append(self.leaves.vector())
        return self.draws[-1]

    def inequalities(self) -> Conditions:
        """E mean_i ||xi_i||^2 <= sigma^2."""
        return [(f"noise {k}", square(xi) - self.sigma**2) for k, xi in enumerate(self.draws)]

    def equations(self) -> Conditions:
        """What is zero, for every leaf there is."""
        found: Conditions = []
        depends = self._dependencies()
        # deviations without a mean (the clients' gradients at x*) are not random
        fixed = set(range(self.leaves.deviation)) - {partner for partner, _ in self.leaves.origins.values()}
        for k, xi in enumerate(self.draws):
            mean, deviation = (leaf for _, leaf in xi.terms)
            for leaf, (partner, _) in self.leaves.origins.items():
                if self._leaf.get(leaf, k) < k:
                    continue  # said of the earlier draw
                own, mixed = depends[leaf]
                means = Form({_at("S", mean, leaf): 1})
                deviations = Form() if partner is None else Form({_at("Q", deviation, partner): 1})
                name = f"noise {k} and {leaf}"
                if k not in own | mixed:
                    found.append((f"{name}, means", means))
                    if partner is not None:
                        found.append((f"{name}, deviations", deviations))
                elif k not in mixed and partner is not None:
                    found.append((f"{name}, different clients", means - deviations * divide(1, self.n - 1)))
            found += [(f"noise {k} and deviation {d}", Form({_at("Q", deviation, d): 1})) for d in sorted(fixed)]
        return found

    def expect(self, form: Form) -> Form:
        """The expectation of a form: products with draws that are independent are zero, or those of the same client alone."""
        gram = dict(form.gram)
        for _, equation in self.equations():
            zero, *rest = equation.gram
            size = gram.pop(zero, None)
            for key in rest if size is not None else ():
                gram[key] = gram.get(key, 0) - size * equation.gram[key]
        return Form({key: value for key, value in gram.items() if value != 0}, form.values, form.constant)

    def reach(self, evaluations: Iterable[Evaluation]) -> bool:
        """Whether a function is evaluated at a point that depends on a draw."""
        depends = self._dependencies()
        return any(own | mixed for own, mixed in (self._of(e.x, depends) for e in evaluations))

    def _dependencies(self) -> dict[int, tuple[set[int], set[int]]]:
        """By mean leaf: the draws that reach a client's vector through this client alone, and those that reach it through others."""
        found: dict[int, tuple[set[int], set[int]]] = {}
        for leaf, (_, origins) in self.leaves.origins.items():
            own, mixed = {self._leaf[leaf]} if leaf in self._leaf else set(), set()
            for origin in origins:
                more, others = self._of(origin, found)
                own |= more
                mixed |= others
            found[leaf] = own - mixed, mixed
        return found

    def _of(self, u: Vector, depends: dict[int, tuple[set[int], set[int]]]) -> tuple[set[int], set[int]]:
        own: set[int] = set()
        mixed: set[int] = set()
        for leaf, (mine, others) in depends.items():
            partner, _ = self.leaves.origins[leaf]
            common, single = (
                u.terms.get(("mean", leaf), 0),
                0 if partner is None else u.terms.get(("deviation", partner), 0),
            )
            if common or single:
                mixed |= others
                if partner is not None and common == single:
                    own |= mine
                else:
                    mixed |= mine
        return own - mixed, mixed


def _at(matrix: str, i: int, j: int) -> tuple[str, int, int]:
    return matrix, min(i, j), max(i, j)
