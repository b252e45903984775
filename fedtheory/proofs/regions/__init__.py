"""Expressions in named parameters, and the regions of parameters that statements hold on."""
