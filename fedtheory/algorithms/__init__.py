"""The methods, one round each, and the list of all of them.

Every module lists its methods in ``LISTED``; a listed method goes through the contract tests and all engines.
"""

from __future__ import annotations

from fedtheory.algorithms import (
    afedpd,
    apda,
    apfl,
    ditto,
    dual_ascent,
    dual_averaging,
    dualfl,
    fedadmm,
    fedavg,
    fedcm,
    feddane,
    feddyn,
    fedpd,
    fedslr,
    fedspa,
    five_gcs,
    gradient_descent,
    per_fedavg,
    proximal,
    safari,
    scaffnew,
    scaffold,
    vrl_sgd,
)
from fedtheory.algorithms import fedrep as partly_shared
from fedtheory.algorithms import fedsplit as splitting
from fedtheory.algorithms import local_svrg as anchored
from fedtheory.algorithms.afedpd import AFedPD
from fedtheory.algorithms.apda import APDA
from fedtheory.algorithms.apfl import Apfl
from fedtheory.algorithms.base import Algorithm, Listed
from fedtheory.algorithms.ditto import Ditto, LocalTraining
from fedtheory.algorithms.dual_ascent import DualAscent, DualFista
from fedtheory.algorithms.dual_averaging import FedDualAvg
from fedtheory.algorithms.dualfl import DualFL
from fedtheory.algorithms.fedadmm import FedADMM
from fedtheory.algorithms.fedavg import FedAvg, FedProx
from fedtheory.algorithms.fedcm import FedCM
from fedtheory.algorithms.feddane import FedDane
from fedtheory.algorithms.feddyn import FedDyn
from fedtheory.algorithms.fedlin import FedLin
from fedtheory.algorithms.fedpd import FedPD, every
from fedtheory.algorithms.fedrep import FedRep, LgFedAvg
from fedtheory.algorithms.fedslr import FedSLR
from fedtheory.algorithms.fedspa import FedSpa
from fedtheory.algorithms.fedsplit import FedDR, FedSplit
from fedtheory.algorithms.five_gcs import FiveGCS
from fedtheory.algorithms.gradient_descent import AcceleratedGradient, GradientDescent
from fedtheory.algorithms.local_svrg import LocalSvrg
from fedtheory.algorithms.per_fedavg import PerFedAvg
from fedtheory.algorithms.proximal import GlobalProximal, LocalProximal, ProximalGradient
from fedtheory.algorithms.safari import Safari, ServerSgd
from fedtheory.algorithms.scaffnew import RandProx, Scaffnew
from fedtheory.algorithms.scaffold import Scaffold
from fedtheory.algorithms.settings import Settings
from fedtheory.algorithms.vrl_sgd import VrlSgd
from fedtheory.core.errors import InvalidInput

ALGORITHMS: tuple[Listed, ...] = (
    *gradient_descent.LISTED,
    *fedavg.LISTED,
    *scaffold.LISTED,
    *feddane.LISTED,
    *vrl_sgd.LISTED,
    *fedcm.LISTED,
    *anchored.LISTED,
    *dual_averaging.LISTED,
    *safari.LISTED,
    *splitting.LISTED,
    *fedpd.LISTED,
    *dualfl.LISTED,
    *dual_ascent.LISTED,
    *scaffnew.LISTED,
    *five_gcs.LISTED,
    *apda.LISTED,
    *ditto.LISTED,
    *apfl.LISTED,
    *per_fedavg.LISTED,
    *partly_shared.LISTED,
    *fedspa.LISTED,
    *fedadmm.LISTED,
    *feddyn.LISTED,
    *afedpd.LISTED,
    *proximal.LISTED,
    *fedslr.LISTED,
)


def listed(name: str) -> Listed:
    """Return a method by name.

    Raises
    ------
    InvalidInput
        The name is unknown; the message lists those that are known.
    """
    for entry in ALGORITHMS:
        if entry.name == name.lower():
            return entry
    raise InvalidInput(f"unknown algorithm {name!r}; known are {', '.join(e.name for e in ALGORITHMS)}")


__all__ = [
    "ALGORITHMS",
    "APDA",
    "AFedPD",
    "AcceleratedGradient",
    "Algorithm",
    "Apfl",
    "Ditto",
    "DualAscent",
    "DualFL",
    "DualFista",
    "FedADMM",
    "FedAvg",
    "FedCM",
    "FedDR",
    "FedDane",
    "FedDualAvg",
    "FedDyn",
    "FedLin",
    "FedPD",
    "FedProx",
    "FedRep",
    "FedSLR",
    "FedSpa",
    "FedSplit",
    "FiveGCS",
    "GlobalProximal",
    "GradientDescent",
    "LgFedAvg",
    "Listed",
    "LocalProximal",
    "LocalSvrg",
    "LocalTraining",
    "PerFedAvg",
    "ProximalGradient",
    "RandProx",
    "Safari",
    "Scaffnew",
    "Scaffold",
    "ServerSgd",
    "Settings",
    "VrlSgd",
    "every",
    "listed",
]
