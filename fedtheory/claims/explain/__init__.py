"""Proofs for people: from proof objects to pages that a referee follows with a pencil."""
