"""Assumptions in the words in which several sections make them."""

from __future__ import annotations

from paper_checks.fedslr.notation import SERVER_STEP

#: what is assumed of Phase I throughout: local problems are solved exactly, and the duals start at the gradients
EXACT = "exact local solves and gamma_{i,t} = grad f_i(w_{i,t}): every t >= 1 by Fact 2, and t = 0 where gamma_{i,0} is started so"
CONTINUOUS = "a cluster point exists; R is finite and continuous, as the nuclear norm is"
ALONG = "J are rounds along which states go to the cluster point, and with them D, f and R, which are continuous, to their values there"
KL_HOLDS = (
    "A4: around its critical points D has the Kurdyka-Lojasiewicz inequality with this theta and some c, by which it holds at the iterates from some "
    "round t_0 on (FEDSLR-N23)"
)
#: what Theorem 3 needs of Phase II's samples
UNBIASED = "a drawn gradient is unbiased, and A5 holds of it, given all that was drawn before; A5 does not say so"
ONE_CLIENT = "the counterexample has one client and R = 0, t >= 1"
DISTANCE = "the square of a set's distance from 0 is at most that of the norm of each of its elements"
#: the range in the paper's letters, and without its end point
PRINTED_STEP = SERVER_STEP.replace("eta", "eta_g")
SHORT_STEP = PRINTED_STEP.replace("<=", "<")
