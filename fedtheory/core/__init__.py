"""Numbers and words: arrays, the problem protocol, participation, randomness, states, errors."""
