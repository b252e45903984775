"""SAFARI's Theorem 1 for every learner: all that is drawn and tossed has outcomes r with weights w[r], and what is learned is a rule for each.

Two points x_1, x_2 and two targets f in H with f(x_1) = 1 and f(x_2) = 0 or 1. Where f(x_2) = f the rule that is learned labels x_1 by j_f[r] and
x_2 by k_f[r]. Learning reads samples and coins, so that it returns one rule under both targets where all samples are copies of x_1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates, Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.formulas import over_outcomes

#: P where clients are selected, of whom those that are absent hold all copies of x_2; and where samples are
OF_CLIENTS, OF_SAMPLES = ("omega", "(1 - omega)"), ("(1 + omega)/2", "(1 - omega)/2")


def risk(law: tuple[str, str], j: str | int, k: str | int, label: str | int) -> str:
    """R_P of the rule with h(x_1) = j, h(x_2) = k where f(x_1) = 1 and f(x_2) = label, for P(x_1), P(x_2), as a formula."""
    return f"({law[0]}*abs({j} - 1) + {law[1]}*abs({k} - {label}))"


def worse(first: str, second: str) -> str:
    """The larger one of two."""
    return f"max({first}, {second})"


def is_flag(number: str) -> str:
    """That a number is 0 or 1."""
    return f"{number}*(1 - {number}) == 0"


RISES = worse(over_outcomes("F_0[r]"), over_outcomes("F_1[r]"))
_LEARNS = [over_outcomes(f"(1 - F_{label}[r])") for label in (0, 1)]
#: by how much the probability that the risk is at most the level falls short of one, under the target where that is more
SHORT = worse(*(f"1 - {probability}" for probability in _LEARNS))
WEIGHTS = {"weights": "sum(w[r], r, 0, N) == 1"}
#: how a proof ends where the claim is about the probability of a risk above the level, and where it is about that of one at most the level
ENDS_RISES = f"""
      worse_0: {over_outcomes("F_0[r]")} <= {RISES}             by combine
      worse_1: {over_outcomes("F_1[r]")} <= {RISES}             by combine
      done:    claim                                            by combine (1/2)*worse_0, (1/2)*worse_1, (1/2)*all, (1/2)*half"""
ENDS_LEARNS = f"""
      rest_0:  {_LEARNS[0]} == {over_outcomes("1")} - {over_outcomes("F_0[r]")}
                 by induction N: base combine; step combine ih
      rest_1:  {_LEARNS[1]} == {over_outcomes("1")} - {over_outcomes("F_1[r]")}
                 by induction N: base combine; step combine ih
      short_0: 1 - {_LEARNS[0]} <= {SHORT}                      by combine
      short_1: 1 - {_LEARNS[1]} <= {SHORT}                      by combine
      done:    claim
                 by combine (1/2)*short_0, (1/2)*short_1, (1/2)*rest_0, (1/2)*rest_1, 1*weights, (1/2)*all, (1/2)*half"""
#: labels under both targets; F_f is 1 where the risk is above a level
FLAGS = ("j_0", "j_1", "k_0", "k_1", "F_0", "F_1")


def worse_target(
    name: str, law: tuple[str, str], level: str, claim: str, hidden: tuple[str, Mapping[str, str], str], **more: Any
) -> Theorem:
    """That under one of the targets the risk is often above a level.

    ``hidden``: a flag of outcomes where samples hide x_2, what is known of it, and lines on its probability, of which the last is ``half``.
    """
    flag, known, half = hidden
    room = f"({law[1]} - {level})"
    return Theorem(
        name=name,
        region=f"0 <= omega < 1{more.pop('region', '')}",
        rounds={"r": 0, "N": 0},
        sequences={"w": "0", **dict.fromkeys(FLAGS, "0..1"), **more.pop("sequences", {})},
        given={
            **WEIGHTS,
            **known,
            "same": f"{flag}*(k_0[r] - k_1[r]) == 0",
            "above_0": f"{risk(law, 'j_0[r]', 'k_0[r]', 0)} <= {level} + F_0[r]",
            "above_1": f"{risk(law, 'j_1[r]', 'k_1[r]', 1)} <= {level} + F_1[r]",
            **{f"flag_{name}": is_flag(f"{name}[r]") for name in ("k_0", "k_1", "F_0", "F_1")},
        },
        claim=claim,
        proof=f"""
      size_0:  0 <= abs(j_0[r] - 1)                             by combine
      size_1:  0 <= abs(j_1[r] - 1)                             by combine
      wide_0:  k_0[r] <= abs(k_0[r] - 0)                        by combine
      wide_1:  1 - k_1[r] <= abs(k_1[r] - 1)                    by combine
      net_0:   {law[1]}*k_0[r] - {level} <= F_0[r]              by combine above_0, ({law[0]})*size_0, ({law[1]})*wide_0
      net_1:   {law[1]}*(1 - k_1[r]) - {level} <= F_1[r]        by combine above_1, ({law[0]})*size_1, ({law[1]})*wide_1
      low_0:   {room}*k_0[r]*(1 - F_0[r]) <= 0
                 by combine (k_0[r]*(1 - F_0[r]))*net_0, k_0[r]*flag_F_0, ({law[1]}*(1 - F_0[r]))*flag_k_0
      low_1:   {room}*(1 - k_1[r])*(1 - F_1[r]) <= 0
                 by combine ((1 - k_1[r])*(1 - F_1[r]))*net_1, (1 - k_1[r])*flag_F_1, ({law[1]}*(1 - F_1[r]))*flag_k_1
      miss_0:  k_0[r] <= F_0[r]                                 by combine (1/{room})*low_0
      miss_1:  1 - k_1[r] <= F_1[r]                             by combine (1/{room})*low_1
      either:  {flag} <= F_0[r] + F_1[r]                        by combine ({flag})*miss_0, ({flag})*miss_1, (-1)*same
      all:     {over_outcomes(flag)} <= {over_outcomes("F_0[r]")} + {over_outcomes("F_1[r]")}
                 by induction N: base combine w[0]*either(r=0); step combine ih, w[N+1]*either(r=N+1)
      {half}{more.pop("ends", ENDS_RISES)}
""",
        **more,
    )


#: the first m clients, all of whose samples are x_1, take part
ALWAYS = ("1", dict[str, str](), f"half:    1 <= {over_outcomes('1')}       by combine weights")
#: the number delta of Definition 4
DELTA = ", 0 < delta <= 1/20"
CLIENTS_SELECTED = worse_target("clients are selected", OF_CLIENTS, "(1 - omega)/8", f"1/20 < {RISES}", hidden=ALWAYS)
CLIENTS_NOT_LEARNABLE = worse_target(
    "clients are selected",
    OF_CLIENTS,
    "(1 - omega)/8",
    f"delta < {SHORT}",
    hidden=ALWAYS,
    region=DELTA,
    ends=ENDS_LEARNS,
)
#: s[r] of M n samples are x_2, which is hidden where it can be: where they are fewer than (1 - omega) M n
WHERE_IT_CAN_BE = (
    "hides[r]",
    {
        "mean": f"{over_outcomes('s[r]')} == (1 - omega)/2*M*n",
        "shown": "(1 - omega)*M*n*(1 - hides[r]) <= s[r]",
    },
    f"""few:     (1 - omega)*M*n*({over_outcomes("1")} - {over_outcomes("hides[r]")}) <= {over_outcomes("s[r]")}
                 by induction N: base combine w[0]*shown(r=0); step combine ih, w[N+1]*shown(r=N+1)
      half:    1/2 <= {over_outcomes("hides[r]")}
                 by combine (1/((1 - omega)*M*n))*few, weights, (1/((1 - omega)*M*n))*mean""",
)


def samples_selected(theta: str, claim: str, region: str = "", **more: Any) -> Theorem:
    """The risk is above theta (1 - omega)/2."""
    theta_is = f", 0 <= {theta} < 1" if theta.isidentifier() else ""
    return worse_target(
        "samples are selected",
        OF_SAMPLES,
        f"{theta}*(1 - omega)/2",
        claim,
        hidden=WHERE_IT_CAN_BE,
        region=f", 1 <= M, 1 <= n{theta_is}{region}",
        sequences={"s": "0", "hides": "0..1"},
        **more,
    )


SAMPLES_SELECTED = samples_selected("1/4", f"1/20 < {RISES}")
SHARPER = samples_selected("theta", f"1/4 <= {RISES}")
SAMPLES_NOT_LEARNABLE = samples_selected("1/4", f"delta < {SHORT}", DELTA, ends=ENDS_LEARNS)


_RISKS = [risk(OF_CLIENTS, f"j_{label}[r]", f"k_{label}[r]", label) for label in (0, 1)]
_MEANS = [over_outcomes(number) for number in _RISKS]
#: h_1 and h_2 are what a deterministic learner returns
WORSE_RISK = Theorem(
    name="Theorem 1 for clients",
    region="0 <= omega < 1, h_1 in 0..1, h_2 in 0..1",
    rounds={"r": 0, "N": 0},
    sequences={"w": "0", **dict.fromkeys(FLAGS[:4], "0..1")},
    given={**WEIGHTS, "same": "k_0[r] == k_1[r]"},
    claim=(
        f"1 - omega <= {worse(risk(OF_CLIENTS, 'h_1', 'h_2', 0), risk(OF_CLIENTS, 'h_1', 'h_2', 1))}",
        f"(1 - omega)/2 <= {worse(*_MEANS)}",
    ),
    proof=f"""
      one:     claim 1                     by values h_1: (values h_2: combine; combine); (values h_2: combine; combine)
      size_0:  0 <= abs(j_0[r] - 1)        by combine
      size_1:  0 <= abs(j_1[r] - 1)        by combine
      wide_0:  k_0[r] <= abs(k_0[r] - 0)   by combine
      wide_1:  1 - k_1[r] <= abs(k_1[r] - 1)                    by combine
      both:    1 - omega <= {_RISKS[0]} + {_RISKS[1]}
                 by combine omega*size_0, omega*size_1, (1 - omega)*wide_0, (1 - omega)*wide_1, (omega - 1)*same
      all:     (1 - omega)*{over_outcomes("1")} <= {_MEANS[0]} + {_MEANS[1]}
                 by induction N: base combine w[0]*both(r=0); step combine ih, w[N+1]*both(r=N+1)
      worse_0: {_MEANS[0]} <= {worse(*_MEANS)}     by combine
      worse_1: {_MEANS[1]} <= {worse(*_MEANS)}     by combine
      tossed:  claim 2                     by combine (1/2)*worse_0, (1/2)*worse_1, (1/2)*all, (omega - 1)/2*weights
""",
)

# ---- a server that draws ----------------------------------------------------------------------------------------------


def draw_samples(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """Draws that are x_2 with probability p: ``power`` doubles with each copy of it, ``unseen`` becomes 0 with the first; begun at e, which stays."""
    e = w.vector("e")
    power, unseen = (e, e) if begun else (w.vector("power"), w.vector("unseen"))
    first = SimpleNamespace(e=e, power=power, unseen=unseen)
    found = SimpleNamespace(e=e, power=power * 2, unseen=unseen * 0)
    return [first, [(1 - p.p, first), (p.p, found)]][: last + 1]


DRAWS = PlayedStates(draw_samples, start=partial(draw_samples, begun=True))
CHERNOFF = Theorem(
    name="(9)-(11)",
    region="0 < p <= 1/2, 0 <= tail <= 1",
    states=DRAWS,
    rounds={"k": 0, "N": 0},
    where={"omega": "1 - 2*p"},
    quantities={"Z": "dot(power, e)", "U": "norm2(e)"},
    given={
        "unit": "U[0] == 1",
        "some": "1 <= (1 - omega)*N",
        "markov": "tail*2**((1 - omega)*N) <= Z[N]",
    },
    fixed=("N",),
    claim=(
        "tail <= exp(-(1 - omega)*N/6)",
        "exp(-(1 - omega)*N/6) <= exp(-1/6)",
        "exp(-1/6) <= 17/20",
        "3/20 < 1 - tail",
    ),
    proof="""
      step:    Z[k+1] == (1 + p)*Z[k]                       by identity
      begin:   Z[0] == U[0]                                 by identity
      grown:   Z[N] == (1 + p)**N                           by induction N: base combine begin, unit; step combine (1 + p)*ih, step(k=N)
      tangent: 1 + p <= exp(p)                              by exponential p
      moment:  (1 + p)**N <= exp(p*N)
                 by induction N: base combine; step combine (1 + p)*ih, exp(p*N)*tangent
      small:   1 - 1/48 <= exp(-1/48)                       by exponential -1/48
      third:   (47/48)**32 <= exp(-2/3)                     by power small, 32
      twice:   exp(2/3) <= 2                                by combine (2*exp(2/3))*third
      twos:    exp(2/3)**(2*p*N) <= 2**(2*p*N)              by power twice, 2*p*N
      least:   tail <= exp(p*N)*2**(-2*p*N)
                 by combine 2**(-2*p*N)*markov, 2**(-2*p*N)*grown, 2**(-2*p*N)*moment
      one:     claim 1                                      by combine 1*least, (exp(-p*N/3)*2**(-2*p*N))*twos
      above:   1 + p*N/3 - 1/6 <= exp(p*N/3 - 1/6)          by exponential p*N/3 - 1/6
      two:     claim 2                                      by combine exp(-p*N/3)*above, (exp(-p*N/3)/6)*some
      root:    1 + 1/24 <= exp(1/24)                        by exponential 1/24
      sixth:   (25/24)**4 <= exp(1/6)                       by power root, 4
      room:    exp(-1/6) < 17/20                            by combine (17/20*exp(-1/6))*sixth
      three:   claim 3                                      by combine 1*room
      done:    claim 4                                      by combine 1*one, 1*two, 1*room
    """,
)
UNSEEN = {"H": "dot(unseen, e)", "U": "norm2(e)"}
#: H[n_T] is the probability that none of n_T draws is x_2
NONE_DRAWN = """
      step:    H[k+1] == (1 - p)*H[k]                           by identity
      begin:   H[0] == U[0]                                     by identity
      hidden:  H[n_T] == (1 - p)**n_T                           by induction n_T: base combine begin, unit; step combine (1 - p)*ih, step(k=n_T)
"""
#: of a pool with a[r] copies of x_1 and q[r] of x_2, of which the server drew c[r]: a rule that errs on x_1 where off[r] is 1, on x_2 where errs[r]
#: is; the right rule has no error on the pool, so that a minimiser has none
SERVER = {
    "unit": "U[0] == 1",
    "law": f"{over_outcomes('unseen[r]')} == H[n_T]",
    "drawn": "1 - unseen[r] <= c[r]",
}
ERRS_UNSEEN = f"""{NONE_DRAWN}
      once:    (1 - unseen[r])*errs[r] <= 0                     by combine 1*none, errs[r]*drawn
      missed:  errs[r] <= unseen[r]                             by combine 1*once
"""
POOL = {**dict.fromkeys(("w", "a", "q", "c"), "0"), **dict.fromkeys(("unseen", "off", "errs"), "0..1")}
OF_POOL = {"pooled": "c[r] <= q[r]", "minimiser": "a[r]*off[r] + q[r]*errs[r] <= 0"}
NONE_MISSED = f"""
      none:    c[r]*errs[r] <= 0                                by combine 1*minimiser, errs[r]*pooled
{ERRS_UNSEEN}"""
WITH_SERVER = Theorem(
    name="Theorem 1 with the server's sample",
    region="0 < p < 1/2",
    states=DRAWS,
    rounds={"k": 0, "n_T": 0, "r": 0, "N": 0},
    where={"epsilon": "p/4"},
    quantities=UNSEEN,
    sequences={**POOL, "F": "0..1"},
    given={
        **SERVER,
        **OF_POOL,
        "risk": "F[r]*((1 - p)*off[r] + p*errs[r] - 4*epsilon) == 0",
        "flag_off": is_flag("off[r]"),
        "flag_errs": is_flag("errs[r]"),
    },
    fixed=("n_T",),
    claim=f"{over_outcomes('F[r]')} <= (1 - 4*epsilon)**n_T",
    proof=f"""{NONE_MISSED}
      event:   F[r]*(1 - errs[r]) == 0
                 by combine (off[r]*(1 - errs[r])/(1 - 2*p) - (1 - off[r])*(1 - errs[r])/p)*risk,
                   (F[r]*(1 - p)*(1 - errs[r])*(1/(1 - 2*p) + 1/p))*flag_off, (F[r]*(1 - off[r]) - F[r]*p/(1 - 2*p)*off[r])*flag_errs
      often:   F[r] <= unseen[r]                                by combine 1*event, F[r]*missed
      all:     {over_outcomes("F[r]")} <= {over_outcomes("unseen[r]")}
                 by induction N: base combine w[0]*often(r=0); step combine ih, w[N+1]*often(r=N+1)
      done:    claim                                            by combine 1*all, 1*law, 1*hidden
""",
)
ENOUGH_AT_SERVER = Theorem(
    name="samples of the server",
    region="0 < p <= 1/2, 0 < delta < 1",
    states=DRAWS,
    rounds={"k": 0, "n_T": 0, "r": 0, "N": 0},
    quantities=UNSEEN,
    sequences=POOL,
    given={**SERVER, **OF_POOL, "enough": "log(1/delta) <= p*n_T"},
    fixed=("n_T",),
    claim=f"{over_outcomes('errs[r]')} <= delta",
    proof=f"""{NONE_MISSED}
      all:     {over_outcomes("errs[r]")} <= {over_outcomes("unseen[r]")}
                 by induction N: base combine w[0]*missed(r=0); step combine ih, w[N+1]*missed(r=N+1)
      few:     {over_outcomes("errs[r]")} <= (1 - p)**n_T       by combine 1*all, 1*law, 1*hidden
      tangent: 1 - p <= exp(-p)                                 by exponential -p
      falls:   (1 - p)**n_T <= exp(-p*n_T)
                 by induction n_T: base combine; step combine (1 - p)*ih, exp(-p*n_T)*tangent
      above:   1 + p*n_T - log(1/delta) <= exp(p*n_T - log(1/delta))      by exponential p*n_T - log(1/delta)
      back:    exp(log(1/delta)) == 1/delta                     by logarithm 1/delta
      done:    claim
                 by combine 1*few, 1*falls, exp(-p*n_T)*above, exp(-p*n_T)*enough, (-delta*exp(-log(1/delta)))*back
""",
)
#: n_S samples of clients are x_1; the worst minimiser, which is right on x_1, errs on x_2 where worst[r] is 1
WORST_POOLED = Theorem(
    name="the worst pooled minimiser",
    region="0 <= p <= 1, 0 <= n_S",
    states=DRAWS,
    rounds={"k": 0, "n_T": 0, "r": 0, "N": 0},
    quantities=UNSEEN,
    sequences={"w": "0", "c": "0", **dict.fromkeys(("unseen", "off", "errs", "worst"), "0..1")},
    given={
        **SERVER,
        "most": "c[r] <= n_T",
        "minimiser": "(n_S + n_T - c[r])*off[r] + c[r]*errs[r] <= 0",
        "not_drawn": "unseen[r]*c[r] == 0",
        "worst": "worst[r] == unseen[r]",
    },
    fixed=("n_T",),
    claim=(
        f"{over_outcomes('errs[r]')} <= (1 - p)**n_T",
        "c[r]*worst[r] <= 0",
        f"{over_outcomes('worst[r]')} == (1 - p)**n_T",
    ),
    proof=f"""
      none:    c[r]*errs[r] <= 0                                by combine 1*minimiser, off[r]*most
{ERRS_UNSEEN}
      all:     {over_outcomes("errs[r]")} <= {over_outcomes("unseen[r]")}
                 by induction N: base combine w[0]*missed(r=0); step combine ih, w[N+1]*missed(r=N+1)
      one:     claim 1                                          by combine 1*all, 1*law, 1*hidden
      two:     claim 2                                          by combine not_drawn, c[r]*worst
      same:    {over_outcomes("worst[r]")} == {over_outcomes("unseen[r]")}
                 by induction N: base combine w[0]*worst(r=0); step combine ih, w[N+1]*worst(r=N+1)
      three:   claim 3                                          by combine 1*same, 1*law, 1*hidden
""",
)
