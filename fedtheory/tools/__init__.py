"""What knows nothing of optimisation: jobs, journals, the terminal, pictures, lists of values, fingerprints, free memory, versions."""
