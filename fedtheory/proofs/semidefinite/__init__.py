"""Small semidefinite programs: their data, their solvers, and answers judged by their residuals."""
