"""Potentials that fall by a factor every round on a whole class: found by a search, proved by a certificate."""
