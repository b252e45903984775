"""What is read off a run: metrics, ground truth, duality gaps, rates, exponents, potentials."""

from . import metrics as metrics
