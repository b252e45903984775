"""Is this code the paper's method?"""

from fedtheory.conformance.compare import conform as conform
