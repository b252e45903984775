"""Exact refutations: functions of a class with rational data on which a method, run in fractions, does what was said to be impossible."""
