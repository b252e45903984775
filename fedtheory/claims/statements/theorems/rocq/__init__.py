"""Theorems for every round as theorems of Rocq: statement and proof are written from the theorem and its proof term, without a hand."""
