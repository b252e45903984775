"""Is this code the paper's method?"""

from .compare import conform as conform
