"""What papers claim, what judges it, and the verdicts."""

from fedtheory.claims.claim import Budget as Budget
from fedtheory.claims.claim import Check as Check
from fedtheory.claims.claim import Claim as Claim
from fedtheory.claims.claim import Context as Context
from fedtheory.claims.claim import Counterexample as Counterexample
from fedtheory.claims.claim import Engine as Engine
from fedtheory.claims.claim import Fault as Fault
from fedtheory.claims.claim import Finding as Finding
from fedtheory.claims.claim import Kind as Kind
from fedtheory.claims.claim import Need as Need
from fedtheory.claims.claim import Part as Part
from fedtheory.claims.claim import Picture as Picture
from fedtheory.claims.claim import Reading as Reading
from fedtheory.claims.claim import Replay as Replay
from fedtheory.claims.claim import Role as Role
from fedtheory.claims.claim import Size as Size
from fedtheory.claims.claim import Status as Status
from fedtheory.claims.claim import Table as Table
from fedtheory.claims.parts import assumption as assumption
from fedtheory.claims.parts import bound as bound
from fedtheory.claims.parts import close as close
from fedtheory.claims.parts import refutation as refutation
from fedtheory.claims.parts import true as true
from fedtheory.claims.verdict import Verdict as Verdict
from fedtheory.claims.verdict import decide as decide
from fedtheory.claims.verdict import margin_of as margin_of
