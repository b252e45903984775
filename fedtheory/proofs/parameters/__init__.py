"""Proofs for all parameters of a region: systems over rational functions, multipliers in closed form, stored derivations and their checker."""
