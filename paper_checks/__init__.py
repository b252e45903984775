"""The claims of each paper, one module (or package) a paper, each with a list `CLAIMS`."""
