"""The checker of proofs: certificates, derivations and proof terms, with Python's whole numbers and nothing else.

It can be read, and run, by itself (`python fedtheory/proofs/checker FILE`), and imports nothing of the house, by relative names alone.
"""
