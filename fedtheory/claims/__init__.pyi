"""Claims of papers, the checks that judge them, and their verdicts."""

from .claim import Budget as Budget
from .claim import Check as Check
from .claim import Claim as Claim
from .claim import Context as Context
from .claim import Counterexample as Counterexample
from .claim import Engine as Engine
from .claim import Fault as Fault
from .claim import Finding as Finding
from .claim import Kind as Kind
from .claim import Need as Need
from .claim import Part as Part
from .claim import Picture as Picture
from .claim import Reading as Reading
from .claim import Replay as Replay
from .claim import Role as Role
from .claim import Size as Size
from .claim import Status as Status
from .claim import Table as Table
from .parts import assume as assume
from .parts import at_most as at_most
from .parts import equal as equal
from .parts import holds as holds
from .parts import refute as refute
from .verdict import Verdict as Verdict
from .verdict import decide as decide
from .verdict import margin_of as margin_of
