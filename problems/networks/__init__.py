"""Neural networks as problems: PyTorch's gradients under the same algorithms (the extra ``cnn``)."""

from __future__ import annotations

from problems.networks.architectures import ARCHITECTURES, Architecture
from problems.networks.oracle import Arithmetic
from problems.networks.plan import Plan
from problems.networks.problem import Network, Tests, network

__all__ = ["ARCHITECTURES", "Architecture", "Arithmetic", "Network", "Plan", "Tests", "network"]
