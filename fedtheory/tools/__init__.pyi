"""What knows nothing of optimisation: jobs, journals, pictures, files, memory."""

from .jobs import Outcome as Outcome
from .jobs import run_jobs as run_jobs
from .journal import Journal as Journal
from .memory import free_bytes as free_bytes
from .memory import room_for as room_for
from .pictures import figure as figure
from .pictures import save as save
from .pictures import split_figure as split_figure
from .terminal import progress_bar as progress_bar
