"""Tables 1 to 9 of FedSLR as printed: accuracies in per cent, traffic in gigabytes, parameters in millions, latencies in milliseconds."""

from __future__ import annotations

#: the columns of Table 1
COLUMNS = (
    ("CIFAR-10", "iid"),
    ("CIFAR-10", "non-iid"),
    ("CIFAR-100", "iid"),
    ("CIFAR-100", "non-iid"),
    ("TinyImageNet", "iid"),
    ("TinyImageNet", "non-iid"),
)
TABLE_1: dict[str, tuple[float, ...]] = {
    "SCAFFOLD": (91.33, 82.91, 66.68, 59.48, 43.13, 34.11),
    "FedDyn": (92.61, 90.14, 68.68, 64.29, 43.52, 38.02),
    "FedAvg": (90.25, 82.89, 61.92, 55.78, 35.17, 30.56),
    "FedSLR (GKR)": (91.73, 87.52, 66.40, 64.22, 41.32, 35.13),
    "Per-FedAvg": (89.57, 91.55, 57.10, 63.73, 34.41, 37.52),
    "LG-FedAvg": (38.32, 81.35, 12.96, 49.90, 5.34, 35.68),
    "FedRep": (89.28, 93.41, 15.36, 60.42, 5.48, 46.42),
    "Ditto": (89.16, 94.39, 59.36, 78.67, 34.78, 58.30),
    "APFL": (75.11, 87.11, 30.99, 61.14, 20.16, 48.02),
    "Local": (38.30, 82.17, 10.97, 47.99, 3.86, 34.28),
    "FedSpa": (88.31, 93.19, 48.00, 73.87, 30.39, 53.76),
    "FedSLR (mixed)": (89.72, 95.30, 64.95, 82.19, 38.20, 59.13),
}
#: traffic and parameters on CIFAR-10, CIFAR-100, TinyImageNet, Non-IID
TABLE_2: dict[str, tuple[float, ...]] = {
    "FedAvg": (893.92, 11.17, 893.92, 11.17, 893.92, 11.17),
    "SCAFFOLD": (1787.83, 11.17, 1787.83, 11.17, 1787.83, 11.17),
    "FedSLR (GKR)": (626.89, 3.51, 722.60, 5.54, 730.00, 5.34),
    "APFL": (893.92, 22.35, 893.92, 22.35, 893.92, 22.35),
    "FedSpa": (446.96, 5.59, 446.96, 5.59, 446.96, 5.59),
    "LG-FedAvg": (0.41, 11.17, 4.08, 11.17, 8.13, 11.17),
    "FedRep": (893.51, 11.17, 889.84, 11.17, 885.78, 11.17),
    "FedSLR (mixed)": (626.89, 3.96, 722.60, 6.69, 730.00, 7.59),
}
#: lam: GKR's accuracy, traffic and parameters, then those of the mixed model (CIFAR-100, Non-IID)
TABLE_3: dict[float, tuple[float, ...]] = {
    1e-5: (63.63, 819.44, 7.33, 81.89, 819.44, 8.54),
    5e-5: (64.27, 770.39, 6.56, 81.20, 770.39, 7.83),
    1e-4: (64.22, 722.60, 5.54, 82.19, 722.60, 6.69),
    5e-4: (61.81, 568.43, 3.09, 80.10, 568.43, 4.04),
    1e-3: (54.26, 498.20, 1.27, 74.33, 498.20, 2.24),
}
#: mu: the mixed model's accuracy, traffic, parameters and their deviation over clients (CIFAR-100, Non-IID)
TABLE_4: dict[float, tuple[float, ...]] = {
    1e-4: (79.15, 720.60, 8.50, 0.79),
    5e-4: (81.78, 722.60, 7.12, 0.65),
    1e-3: (82.19, 722.60, 6.69, 0.56),
    5e-3: (81.82, 722.60, 5.78, 0.17),
    1e-2: (80.81, 720.60, 5.56, 0.08),
}
#: eta_g: as Table 3
TABLE_5: dict[float, tuple[float, ...]] = {
    2: (60.74, 894.06, 10.65, 80.37, 894.06, 12.36),
    10: (64.22, 722.60, 5.54, 82.19, 722.60, 6.69),
    20: (61.02, 668.94, 5.16, 80.60, 668.94, 6.15),
    100: (58.69, 559.88, 2.99, 78.33, 559.88, 3.90),
}
#: local epochs: accuracies of GKR and of the mixed model (CIFAR-100, Non-IID)
TABLE_6: dict[int, tuple[float, float]] = {1: (58.20, 78.82), 2: (64.51, 81.46), 3: (63.86, 81.97), 4: (64.17, 82.20)}
#: mu: accuracy of the personal component alone (lam = 10; CIFAR-100, Non-IID)
TABLE_7 = {1e-3: 37.14, 1e-4: 44.16, 1e-5: 44.54}
#: lam: accuracy of the global component alone (CIFAR-100, Non-IID)
TABLE_8 = {1e-3: 54.26, 1e-4: 64.22, 1e-5: 63.63}
#: lam: parameters of GKR and latency of a batch of 20 on a Tesla M60
TABLE_9 = {
    0: (11.17, 10.98),
    1e-5: (7.33, 10.12),
    5e-5: (6.56, 9.30),
    1e-4: (5.54, 9.24),
    5e-4: (3.09, 7.62),
    1e-3: (1.27, 6.53),
}

#: sentences of the introduction and of Section 6.2 that give numbers
DOWNLINK_SAVED, TOTAL_SAVED = 38.34, 19
GKR_FEWER, MIXED_FEWER, MIXED_MORE, MIXED_GAIN = 50.40, 40.11, 29, 17.97
OVER_FEDAVG, OVER_DITTO, OVER_FEDSPA, OVER_PER_FEDAVG, BELOW_GKR = 7.23, 3.52, 8.32, 18.46, 1.45


def list_printed_rows() -> dict[str, list[tuple[float, ...]]]:
    """The rows of each table as the paper has them; what its first column says of rows stands before their numbers in Tables 3 to 5."""
    return {
        "Table 1": [*TABLE_1.values()],
        "Table 2": [*TABLE_2.values()],
        **{
            f"Table {k}": [(key, *row) for key, row in table.items()]
            for k, table in ((3, TABLE_3), (4, TABLE_4), (5, TABLE_5))
        },
        "Table 6": [*zip(*TABLE_6.values(), strict=True)],
        "Table 7": [tuple(TABLE_7.values())],
        "Table 8": [tuple(TABLE_8.values())],
        "Table 9": [*zip(*TABLE_9.values(), strict=True)],
    }


def gap(first: str, second: str, split: str, dataset: str | None = None) -> list[float]:
    """Points by which Table 1 has one method above another: on one data set, or on all three."""
    return [
        round(TABLE_1[first][k] - TABLE_1[second][k], 2)
        for k, (name, of) in enumerate(COLUMNS)
        if of == split and dataset in (None, name)
    ]
