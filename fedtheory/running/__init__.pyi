"""One run, many runs, folders of runs, and the search for an instance that breaks a bound."""

from .enumeration import enumerate_courses as enumerate_courses
from .enumeration import enumerate_outcomes as enumerate_outcomes
from .enumeration import enumerate_subsets as enumerate_subsets
from .falsifier import Falsification as Falsification
from .falsifier import Search as Search
from .falsifier import falsify as falsify
from .families import build_problem as build_problem
from .record import Trace as Trace
from .runner import run as run
from .sweep import Sweep as Sweep
from .sweep import run_sweep as run_sweep
from .tables import as_frame as as_frame
from .tables import as_trace_csv as as_trace_csv
from .tables import list_rows as list_rows
