"""fedtheory checks the theory of federated optimisation.

The names below load on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "AcceleratedGradient": "algorithms",
    "DualFL": "algorithms",
    "FedAvg": "algorithms",
    "FedPD": "algorithms",
    "FedProx": "algorithms",
    "FedSLR": "algorithms",
    "GradientDescent": "algorithms",
    "Scaffnew": "algorithms",
    "Scaffold": "algorithms",
    "Adaptive": "local.adaptive_gradient",
    "ResidualBound": "local.stopping",
    "Exact": "local.solvers",
    "GradientSteps": "local.solvers",
    "AcceleratedSteps": "local.solvers",
    "StochasticSteps": "local.stochastic",
    "Epochs": "local.stochastic",
    "ToAccuracy": "local.inexact",
    "Inexact": "local.inexact",
    "VarianceReduced": "local.stochastic",
    "All": "core.participation",
    "Bernoulli": "core.participation",
    "Fixed": "core.participation",
    "Schedule": "core.participation",
    "Uniform": "core.participation",
    "L1": "core.regularisers",
    "NuclearNorm": "core.regularisers",
    "Ridge": "core.regularisers",
    "regularised": "core.regularisers",
    "kl_exponent": "measures.kl",
    "Trace": "running.record",
    "run": "running.runner",
    "Sweep": "running.sweep",
    "run_sweep": "running.sweep",
    "conform": "conformance.compare",
    "constant": "core.problem",
    "constants": "core.problem",
    "fit_contraction": "measures.rates",
    "fit_exponent": "measures.rates",
    "contraction_factor": "proofs.spectrum",
    "round_map": "proofs.spectrum",
    "spectral_radius": "proofs.spectrum",
    "round_matrix": "proofs.symbolic",
    "FunctionClass": "proofs.function_class",
    "smallest_rate": "proofs.potentials.smallest_rate",
    "falsify": "running.falsifier",
    "Search": "running.falsifier",
    "Claim": "claims.claim",
    "Fault": "claims.claim",
    "Verdict": "claims.verdict",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f"fedtheory.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'fedtheory' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
