"""Methods of different names that are one."""

from __future__ import annotations

from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.equivalence import Equivalence
from paper_checks.literature.sources import PAPER

STEPS = "0 < lr, K in 1..3"

CLAIMS = [
    state(
        "LIT-FEDAVG-IS-GD",
        PAPER,
        "McMahan et al. 2017, Section 2",
        "FedAvg with one local step is gradient descent.",
        Equivalence("fedavg", "gd", "lr, steps = 1", "lr", states={"x": "x"}, region="0 < lr"),
    ),
    state(
        "LIT-SCAFFOLD-IS-GD",
        PAPER,
        "Karimireddy et al. 2020, Section 4",
        "SCAFFOLD with one local step, all clients and a server step of 1 is gradient descent.",
        Equivalence(
            "scaffold",
            "gd",
            "lr, steps = 1, server_lr = 1",
            "lr",
            states={"x": "x"},
            kept={"c": "mean_c_i"},
            region="0 < lr",
        ),
    ),
    state(
        "LIT-FEDNOVA-IS-FEDAVG",
        PAPER,
        "Wang et al. 2020",
        "FedNova with as many local steps at every client is FedAvg.",
        Equivalence(
            "fednova", "fedavg", "lr, steps = K, server_lr = 1", "lr, steps = K", states={"x": "x"}, region=STEPS
        ),
    ),
    state(
        "LIT-MIFA-IS-FEDAVG",
        PAPER,
        "Gu et al. 2021, Algorithm 1",
        "MIFA with all clients is FedAvg.",
        Equivalence("mifa", "fedavg", "lr, steps = K", "lr, steps = K", states={"x": "x"}, region=STEPS),
    ),
    state(
        "LIT-FEDLIN-IS-GD",
        PAPER,
        "Mitra et al. 2021, Section 3",
        "FedLin with one local step is gradient descent.",
        Equivalence("fedlin", "gd", "lr, steps = 1", "lr", states={"x": "x"}, region="0 < lr"),
    ),
    state(
        "LIT-SCAFFNEW-IS-GD",
        PAPER,
        "Mishchenko et al. 2022, Section 3",
        "Scaffnew that communicates in every round is gradient descent.",
        Equivalence(
            "scaffnew",
            "gd",
            "lr, p = 1",
            "lr",
            states={"x": "x"},
            kept={"x_i": "x", "h_i": "h_i - mean_h_i"},
            region="0 < lr",
        ),
    ),
    state(
        "LIT-RANDPROX-IS-SCAFFNEW",
        PAPER,
        "Condat and Richtarik 2023",
        "RandProx for consensus, without relaxation, is Scaffnew.",
        Equivalence(
            "randprox",
            "scaffnew",
            "lr, p, relax = 1",
            "lr, p",
            states={"x": "x", "x_i": "x_i", "h_i": "-u_i"},
            kept={"u_i": "u_i - mean_u_i", "x": "mean_x_i"},
            region="0 < lr, 0 < p <= 1",
        ),
    ),
    state(
        "LIT-VRL-SGD-IS-SCAFFOLD",
        PAPER,
        "Liang et al. 2019; Karimireddy et al. 2020",
        "VRL-SGD is SCAFFOLD with all clients and a server step of 1, delta_i = c_i - c.",
        Equivalence(
            "scaffold",
            "vrl-sgd",
            "lr, steps = K, server_lr = 1",
            "lr, steps = K",
            states={"x": "x", "delta_i": "c_i - c"},
            kept={"c": "mean_c_i"},
            region=STEPS,
        ),
    ),
    state(
        "LIT-FEDDYN-IS-FEDADMM",
        PAPER,
        "Acar et al. 2021",
        "FedDyn with all clients and exact solves is FedADMM.",
        Equivalence(
            "feddyn",
            "fedadmm",
            "rho, exact",
            "rho, exact",
            states={"x": "x", "lam_i": "lam_i", "x_bar": "x_bar", "x_i": "x_i"},
            kept={"lam": "mean_lam_i"},
            region="0 < rho",
        ),
    ),
    state(
        "LIT-FEDDR-IS-FEDSPLIT",
        PAPER,
        "Tran-Dinh et al. 2021; Pathak and Wainwright 2020",
        "FedDR with all clients and alpha = 2 is FedSplit (Peaceman-Rachford splitting), z_i = 2 x_i - y_i.",
        Equivalence(
            "feddr",
            "fedsplit",
            "eta, alpha = 2, exact",
            "s = eta, exact",
            states={"x": "x", "z_i": "2*x_i - y_i"},
            kept={"x": "2*mean_x_i - mean_y_i"},
            region="0 < eta",
        ),
    ),
]
