"""One run, many runs, folders of runs, and the search for an instance that breaks a bound."""
