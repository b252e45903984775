"""The options that build compressors: contractive ones, and unbiased ones."""

from __future__ import annotations

from fedtheory.algorithms.options import BuiltField, Option
from fedtheory.local.compression import AnyContractive, AnyUnbiased, Compressor, Quantised, RandK, TopK

_KEEP = "Share of the coordinates that are sent; 1 for all of them."


def make_contractive(compressor: str, keep: float) -> Compressor:
    """Return the compressor of a method with error feedback."""
    return TopK(keep) if compressor == "top" else RandK(keep, scaled=False)


def make_unbiased(keep: float, levels: int) -> Compressor:
    """Return the compressor of a method that needs an unbiased one."""
    return Quantised(levels, keep) if levels else RandK(keep)


CONTRACTIVE = BuiltField(
    (
        Option("compressor", str, "top", "Which coordinates are sent: the largest, or random ones.", ("top", "random")),
        Option("keep", float, 0.5, _KEEP, telling=0.6),
    ),
    make_contractive,
)
#: conformance checks compare without compression: nobody else draws the same coordinates
UNBIASED = BuiltField(
    (
        Option(
            "keep",
            float,
            0.5,
            _KEEP.replace("coordinates that", "coordinates, random ones and scaled, that"),
            telling=1.0,
        ),
        Option("levels", int, 0, "Levels to which coordinates are rounded at random [default: not rounded]."),
    ),
    make_unbiased,
)
#: conformance checks compare without compression here, too
ANY_CONTRACTIVE = BuiltField(
    (Option("error", float, 0.5, "Largest ||C(v) - v|| / ||v|| of the compressor, sqrt(1 - delta).", telling=0.0),),
    AnyContractive,
)
ANY_UNBIASED = BuiltField(
    (Option("variance", float, 1.0, "Largest E ||C(v) - v||^2 / ||v||^2 of the compressor, omega.", telling=0.0),),
    AnyUnbiased,
)
