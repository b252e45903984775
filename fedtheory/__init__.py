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
    "Adaptive": "adaptive",
    "ResidualBound": "stopping",
    "Exact": "local",
    "GradientSteps": "local",
    "AcceleratedSteps": "local",
    "StochasticSteps": "stochastic",
    "Epochs": "stochastic",
    "ToAccuracy": "inexact",
    "Inexact": "inexact",
    "VarianceReduced": "stochastic",
    "All": "participation",
    "Bernoulli": "participation",
    "Fixed": "participation",
    "Schedule": "participation",
    "Uniform": "participation",
    "L1": "regularisers",
    "NuclearNorm": "regularisers",
    "Ridge": "regularisers",
    "regularised": "regularisers",
    "kl_exponent": "kl",
    "Trace": "runner",
    "run": "runner",
    "Sweep": "sweep",
    "run_sweep": "sweep",
    "conform": "conformance",
    "constant": "problem",
    "constants": "problem",
    "fit_contraction": "rates",
    "fit_exponent": "rates",
    "contraction_factor": "spectrum",
    "round_map": "spectrum",
    "spectral_radius": "spectrum",
    "round_matrix": "symbolic",
    "FunctionClass": "function_class",
    "smallest_rate": "lyapunov",
    "falsify": "falsifier",
    "Search": "falsifier",
    "Claim": "claims",
    "Fault": "claims",
    "Verdict": "claims",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f"fedtheory.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'fedtheory' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
