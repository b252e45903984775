"""What knows nothing of optimisation: jobs, journals, pictures, files, memory."""

from .jobs import Outcome as Outcome
from .jobs import run_jobs as run_jobs
from .journal import Journal as Journal
from .memory import find_free_bytes as find_free_bytes
from .memory import require_room as require_room
from .pictures import draw as draw
from .pictures import draw_split as draw_split
from .pictures import save_picture as save_picture
from .terminal import show_progress as show_progress
