"""What DualFL's checks share: how its claims are made, and assumptions in words."""

from __future__ import annotations

from paper_checks.steps import claims_of

claim, derived = claims_of("dualfl"), claims_of("dualfl, derived")

CONVEX = "f_j mu-strongly convex (f_j - (mu/2)||.||^2 convex), 0 < nu <= mu"
SMOOTH = "f_j L-smooth in the usual sense (the displayed definition repeats strong convexity)"
EXACT = "exact local solves; the start xi^(0) = 0 of Algorithm 2"
