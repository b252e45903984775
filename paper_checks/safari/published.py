"""The numbers of the paper's tables, test accuracies in per cent; None where a table has no entry or says "-"."""

from __future__ import annotations

#: a row of a table, by classes a client
Row = tuple[float | None, ...]

#: classes a client, in the order of the tables' columns
CLASSES = (10, 5, 2, 1)
#: clients that never take part
ABSENT = (0, 2, 4)

#: Table 1: FedAvg, by clients that never take part
FEDAVG: dict[str, dict[int, Row]] = {
    "MNIST": {0: (92.69, 89.49, 86.17, 84.49), 2: (92.64, 89.11, 86.54, 71.58), 4: (92.62, 88.81, 77.81, 57.05)},
    "CIFAR-10": {0: (81.12, 79.42, 78.22, 75.7), 2: (79.97, 78.54, 76.68, 64.56), 4: (77.78, 75.55, 67.34, 50.7)},
}

#: Table 2: what SAFARI with q = 0.8 gains over FedAvg, where that is more than 2 points
GAIN: dict[str, dict[int, Row]] = {
    "MNIST": {0: (None, None, 3.13, 4.47), 2: (None, None, 2.01, 16.53), 4: (None, None, 10.69, 31.07)},
    "CIFAR-10": {0: (None, None, None, 2.57), 2: (None, None, None, 12.57), 4: (None, 2.93, 9.32, 23.86)},
}

#: Tables 3 and 4: the same with 4 clients absent, by samples of the server
GAIN_BY_SERVER: dict[str, dict[int, Row]] = {
    "MNIST": {
        50: (None, None, 4.82, 16.65),
        100: (None, None, 6.87, 20.26),
        500: (None, None, 9.16, 29.82),
        1000: (None, None, 10.69, 31.07),
    },
    "CIFAR-10": {500: (None, None, 3.45, 7.14), 5000: (None, None, 8.15, 20.52), 10000: (None, 2.93, 9.32, 23.86)},
}

#: Table 5: SAFARI with one class a client, by the probability of a client round (1: FedAvg), then by clients absent
BY_PROBABILITY = {
    "MNIST": {
        1.0: (84.49, 71.58, 57.05),
        0.8: (88.96, 88.11, 88.12),
        0.6: (89.11, 88.06, 88.44),
        0.4: (89.1, 88.27, 87.19),
    },
    "CIFAR-10": {
        1.0: (75.7, 64.56, 50.7),
        0.8: (78.27, 77.13, 74.56),
        0.6: (77.2, 75.17, 73.85),
        0.4: (76.29, 75.08, 74.19),
    },
}

#: Tables 6 and 7: Fashion-MNIST, 150 clients, mean and deviation; by clients absent, and with 90 absent by the server's share of the data
FASHION_BY_ABSENT = {0: (87.71, 0.09), 30: (86.17, 1.57), 60: (82.37, 5.8), 90: (80.71, 0.38), 120: (78.53, 3.05)}
FASHION_BY_SERVER = {"FedAvg": (80.0, 0.38), "1 %": (82.0, 0.03), "10 %": (85.58, 1.05), "20 %": (85.14, 0.23)}

#: Tables 8 and 9: mean and deviation over 5 and 3 seeds, by clients absent and method
REPEATED = {
    "MNIST": {
        (0, "FedAvg"): ((92.67, 0.05), (89.70, 0.23), (86.04, 0.61), (84.60, 0.99)),
        (0, "SAFARI"): ((92.60, 0.08), (91.08, 0.13), (89.42, 0.17), (89.10, 0.24)),
        (2, "FedAvg"): ((92.64, 0.07), (89.13, 0.28), (86.34, 0.92), (71.66, 0.74)),
        (2, "SAFARI"): ((92.62, 0.04), (90.68, 0.38), (88.75, 0.22), (88.50, 0.63)),
        (4, "FedAvg"): ((92.58, 0.03), (88.76, 0.13), (77.82, 0.22), (57.09, 0.04)),
        (4, "SAFARI"): ((92.51, 0.04), (90.41, 0.17), (88.27, 0.21), (88.06, 0.24)),
    },
    "CIFAR-10": {
        (0, "FedAvg"): ((81.48, 0.38), (79.78, 0.34), (78.36, 0.17), (76.39, 0.60)),
        (0, "SAFARI"): ((81.40, 0.45), (80.13, 0.33), (79.00, 0.25), (78.34, 0.12)),
        (2, "FedAvg"): ((80.11, 0.14), (78.63, 0.33), (77.14, 0.42), (65.16, 0.56)),
        (2, "SAFARI"): ((80.41, 0.10), (79.13, 0.28), (77.66, 0.10), (77.21, 0.39)),
        (4, "FedAvg"): ((78.16, 0.33), (75.30, 0.22), (67.78, 0.38), (50.67, 0.25)),
        (4, "SAFARI"): ((79.28, 0.21), (78.27, 0.21), (76.52, 0.16), (75.18, 0.54)),
    },
}

#: Tables 10 and 11: by clients a round and method, 4 clients absent
BY_PARTICIPANTS = {
    "MNIST": {
        (1, "FedAvg"): (92.11, 65.63, 58.65, 49.86),
        (1, "SAFARI"): (91.88, 90.04, 87.96, 87.83),
        (2, "FedAvg"): (92.40, 83.28, 67.03, 53.75),
        (2, "SAFARI"): (92.27, 90.00, 87.63, 87.45),
        (3, "FedAvg"): (92.51, 87.19, 75.14, 55.76),
        (3, "SAFARI"): (92.54, 90.39, 87.63, 88.19),
        (4, "FedAvg"): (92.55, 88.60, 78.52, 56.42),
        (4, "SAFARI"): (92.45, 90.85, 88.30, 87.88),
        (5, "FedAvg"): (92.62, 88.81, 77.81, 57.05),
        (5, "SAFARI"): (92.52, 90.35, 88.50, 88.12),
        (6, "FedAvg"): (92.58, 88.20, 77.42, 57.12),
        (6, "SAFARI"): (92.65, 90.35, 87.67, 88.23),
    },
    "CIFAR-10": {
        (1, "FedAvg"): (78.61, 75.34, 53.02, 10.31),
        (1, "SAFARI"): (79.80, 78.70, 75.90, 63.04),
        (2, "FedAvg"): (78.48, 76.46, 67.24, 45.87),
        (2, "SAFARI"): (79.15, 77.90, 76.75, 72.93),
        (4, "FedAvg"): (78.59, 75.21, 68.05, 50.25),
        (4, "SAFARI"): (79.98, 77.56, 76.60, 75.51),
        (5, "FedAvg"): (77.78, 75.55, 67.34, 50.70),
        (5, "SAFARI"): (79.47, 78.48, 76.66, 74.56),
    },
}

#: images of each class in the testing parts
TEST_IMAGES = {
    "MNIST": (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
    "CIFAR-10": (1000,) * 10,
}


def list_printed_rows() -> dict[str, list[tuple[float | None, ...]]]:
    """The rows of each table as the paper has them; Tables 3 and 4 begin with samples of the server, and deviations follow means."""
    by_server = {data: [(k, *row) for k, row in rows.items()] for data, rows in GAIN_BY_SERVER.items()}
    return {
        "Table 1": [row for rows in FEDAVG.values() for row in rows.values()],
        "Table 2": [row for rows in GAIN.values() for row in rows.values()],
        "Table 3": by_server["MNIST"],
        "Table 4": by_server["CIFAR-10"],
        "Table 5": [row for rows in BY_PROBABILITY.values() for row in zip(*rows.values(), strict=True)],
        "Table 6": [tuple(number for cell in FASHION_BY_ABSENT.values() for number in cell)],
        "Table 7": [tuple(number for cell in FASHION_BY_SERVER.values() for number in cell)],
        **{
            f"Table {k}": [tuple(number for cell in row for number in cell) for row in REPEATED[data].values()]
            for k, data in ((8, "MNIST"), (9, "CIFAR-10"))
        },
        **{f"Table {k}": [*BY_PARTICIPANTS[data].values()] for k, data in ((10, "MNIST"), (11, "CIFAR-10"))},
    }


def pick(row: Row, p: int) -> float | None:
    """Return what a row prints for p classes a client."""
    return row[CLASSES.index(p)]


def loss(data: str, p: int) -> float:
    """Return what FedAvg loses in Table 1 from none to four clients absent, in points."""
    full, short = (pick(FEDAVG[data][s], p) for s in (0, 4))
    assert full is not None and short is not None
    return round(full - short, 2)
