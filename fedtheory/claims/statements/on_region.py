"""What statements have in common whose texts speak of the parameters of a region."""

from __future__ import annotations

from functools import cached_property

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.regions.expressions import Comparison, Expression
from fedtheory.proofs.regions.region import Region


class OnRegion:
    """Reads the fields ``region`` and ``where`` of a statement; both are texts, or a region that has been read."""

    region: str | Region
    where: tuple[str, ...]

    @cached_property
    def parameters(self) -> Region:
        """The region."""
        return Region.parse(self.region)

    @cached_property
    def conditions(self) -> tuple[Comparison, ...]:
        """What parameters satisfy besides their ranges."""
        return tuple(Comparison.parse(text) for text in self.where)

    def require_parameters(self, what: str, text: Expression | Comparison, *others: str) -> None:
        """Refuse a text that speaks of something else than parameters, and the other names."""
        strange = sorted(text.names - {*self.parameters.names, *others})
        if strange:
            known = ", ".join(self.parameters.names) or "none"
            raise InvalidInput(f"{strange[0]!r} in {what!r} is no parameter of the region ({known})")
