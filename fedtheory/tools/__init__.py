"""What knows nothing of optimisation: jobs, journals, pictures, loading, versions."""
