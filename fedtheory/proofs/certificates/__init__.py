"""Bounds proved in whole numbers: made from a solver's answer, stored, and checked without one."""
