"""Proof objects as theorems of the proof assistant Rocq (Coq 8.16 and later, standard library only)."""
