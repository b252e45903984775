"""What the fields of stored instances are, in the symbols of each paper: by claim, then by the field's name.

Fields that engines store (`curvature`, `centre`, `point`, ...) have one meaning in all papers, which `fedtheory.claims.refutation` knows.
"""

from __future__ import annotations

from collections.abc import Mapping

Fields = Mapping[str, Mapping[str, str]]

_SKIP = {
    "g": "g of the two clients f_i(x) = x^2/2 +- (g x + c sqrt(1 + x^2)), so that G = 2 (g + c)",
    "c": "c of the same functions, so that L = 1 + c",
    "u": "u = L eta, which gives the step eta",
    "p": "p, the probability with which a round skips communication",
}
_PIECEWISE = {
    "knots": "where the slopes of the gradients change",
    "slopes": "slopes of grad f_i on the pieces between the knots from left to right, by client",
    "level": "by client the constant term of grad f_i on the first piece",
    "eta": "eta, the step of FedPD",
    "p": "p, the probability with which a round skips communication",
    "x0": "x^0, the start",
    "lam0": "lam_i^0 by client; 'gradients': lam_i^0 = -grad f_i(x^0)",
    "communicates": "whether the rounds so far communicated",
}
_CHAIN = {
    "T": "T of the hard instance, which has T + 1 coordinates",
    "n": "N, the number of clients",
    "lr": "the step of FedAvg with one local step",
    "far": "the coordinate of the point (far, ..., far) at which the function is evaluated",
    "of": "which function: g, the unscaled one, or f",
}
FEDPD: Fields = {
    "FEDPD-T1": {
        "kind": "which reading: lam_i^0 = 0, or the constants that Appendix B-C lists",
        "curvature": "h_i, of client i with f_i(x) = h_i x^2/2 + b_i x",
        "linear": "b_i of the same functions",
        "eta": "eta, the step of FedPD",
        "x0": "x^0, the start",
        "rounds": "T, the number of rounds",
    },
    "FEDPD-T2": {
        "H": "H of the samples +-(H/2) x^2",
        "mean": "the curvature of f_i = f = (mean/2) x^2",
        "eta": "eta, the step of FedPD",
        "gamma": "gamma, the proximal parameter of a local step",
        "period": "I, the rounds between two full gradients",
        "rounds": "T, the last round that is counted",
        "C_9": "C_9, the constant that is tried",
    },
    "FEDPD-L9s": {"round": "r, the round of which the lemma speaks"},
    "FEDPD-T3": _SKIP | {"C_5": "C_5; 'listed': the constant of the paper's proof"},
    "FEDPD-R5": _SKIP | {"x0": "x^0, the start"},
    "FEDPD-L2": _PIECEWISE,
    "FEDPD-T4s": _CHAIN,
    "FEDPD-L5s": _CHAIN,
    "FEDPD-L6s": _CHAIN,
    "FEDPD-Q10": {
        "radius": "x, the point at which the gradient of f(x) = x^2/2 is measured",
        "sigma": "sigma, the noise +-sigma of the stochastic gradient",
        "multiple": "by how many sigma the gradient is said to be bounded",
    },
}
_PARTIAL = {
    "L": "L, of the functions f_i(x) = (L/2) (x - b_i)^2",
    "centres": "b_i by client",
    "P": "P, the number of clients in a round",
    "rho": "rho, the penalty",
    "start": "theta^0, the start",
    "rounds": "T, the number of rounds",
}
_LOCAL = {
    "L": "L, of the sample's loss -(L/2) x^2 for |x| <= R, which goes on straight",
    "R": "R of the same loss, so that G = L R",
    "rho": "rho, the penalty",
    "eta": "eta, the local step",
    "K": "K, the number of local steps",
    "S": "S, the number of samples of a client; 0 where no sample is exchanged",
    "theta": "theta^t, the start of the one run",
    "hat": "the start of the other run, whose data differ in one sample",
}
_SAMPLES = {
    "N": "the number of values that a sample can have",
    "C": "C, the number of clients",
    "P": "P, the number of clients in a round",
    "S": "S, the number of samples of a client",
    "K": "K, the number of local steps",
    "tau": "tau_0, the number of rounds",
    "rho": "rho, the penalty",
    "eta": "eta, the local step",
}
AFEDPD: Fields = {
    "AFEDPD-T1": _PARTIAL,
    "AFEDPD-T1-SOME": _PARTIAL,
    "AFEDPD-L5": _LOCAL,
    "AFEDPD-L6": _LOCAL,
    "AFEDPD-G-REC": {
        "L": "L, the smoothness",
        "rho": "rho, the penalty",
        "s": "s = sqrt(L/(eta K))",
        "q": "the root of the discriminant of the quadratic of which x+ is the larger root",
    },
    "AFEDPD-EQ9": {"samples": "CS, the number of samples, which are fair coins"},
    "AFEDPD-L4": _SAMPLES,
    "AFEDPD-L4P": _SAMPLES,
    "AFEDPD-T2": _SAMPLES,
    "AFEDPD-T2a": _SAMPLES,
}
_CONTROL = {
    "solver": "what the clients solve their local problems with",
    "mu": "mu, of strong convexity: the first client is (mu/2) x^2",
    "L": "L, of smoothness",
    "nu": "nu, the parameter of DualFL",
    "rho": "rho, the momentum of DualFL",
    "steps": "the number of local steps",
    "tolerance": "the tolerance that the local gap is said to meet",
    "z": "z, the point at which the term of Gamma is evaluated",
}
DUALFL: Fields = {
    "DUALFL-P6.1": {"a": "a of G(y) = a y^2/2, with F(x) = (x - 1)^2/2 and K = 1"},
    "DUALFL-T3.4": _CONTROL,
    "DUALFL-T3.5": _CONTROL,
    "DUALFL-C2": _CONTROL,
}
_ALTERNATING = {
    "q": "q, the probability of a round of clients",
    "eta_s": "eta_s, the step of the server's rounds; eta_c = 2 eta_s and K = 1",
    "etabar": "etabar = eta_s L",
    "x0": "x_0, the start",
    "rounds": "R, the number of rounds",
    "lam": "L = mu, of the two functions (lam/2) (x -+ 1)^2, of which the second never takes part",
}
_LABELLED = {"d": "D, the law of the three points", "weight": "lambda_1 of Q = lambda_1 D + lambda_2 P"}
_COUNTED = {"n_T": "n_T, the number of the server's samples", "n_S": "n_S, the number of the clients' samples"}
_UNDRAWN = {
    "m": "m, the number of samples",
    "p": "the mass of the point on which the two hypotheses differ",
    "root": "the number whose m-th power is delta",
}
SAFARI: Fields = {
    "SAFARI-T4": _ALTERNATING,
    "SAFARI-T4f": _ALTERNATING,
    "SAFARI-T5": _ALTERNATING,
    "SAFARI-A2a": {
        "b": "b' of Q, uniform on [0, b']; P is uniform on [0, 1]",
        "star": "t*, the threshold of the best rule",
        "t": "t, the threshold of the rule that is measured",
    },
    "SAFARI-A2b": _LABELLED,
    "SAFARI-T3a": _LABELLED,
    "SAFARI-T2c": _COUNTED,
    "SAFARI-L2": _COUNTED,
    "SAFARI-L1": _UNDRAWN,
    "SAFARI-L1b": _UNDRAWN,
    "SAFARI-L1c": _UNDRAWN,
}
_PLATEAU = {
    "eta": "eta_g, the global step",
    "start": "w_0, the start",
    "lam": "the weight of the penalty |w|",
}
_SQUARE = {
    "L": "L, of the one client's function (L/2) w^2",
    "eta": "eta_g, the global step",
    "start": "w_0, the start",
    "t": "t_0, the round from which (12) is said to hold",
    "lr": "eta_l, the local step of Phase II",
    "mu": "the weight of the penalty of Phase II",
    "T": "T, the number of rounds",
    "K": "K, the number of local steps of Phase II",
}
FEDSLR: Fields = {
    "FEDSLR-T1a": _PLATEAU,
    "FEDSLR-T2d": _PLATEAU,
    "FEDSLR-D6": _PLATEAU,
    "FEDSLR-T2b": _SQUARE,
    "FEDSLR-T3": _SQUARE,
    "FEDSLR-T3-100": _SQUARE,
    "FEDSLR-LINE20": {
        "b": "where phi_i(p) = (p - b)^2/2 + mu |p| is centred, w_t = 0; it is least at b - mu",
        "mu": "the weight of ||.||_1",
        "lr": "the step eta_l",
        "eta": "the step eta that stands in the threshold",
    },
    "FEDSLR-D2a": {
        "c1": "the first client's centre C_1 = c_1 E_11, with f_i(W) = ||W - C_i||^2/2 on 2 x 2 matrices",
        "c2": "the second client's, C_2 = c_2 E_11",
        "lr": "the step of LPGD",
        "lam": "the weight of the nuclear norm",
    },
}
