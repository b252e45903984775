"""The numbers that the A-FedPD paper prints: Tables 2, 4, 5 and 6, as they stand."""

from __future__ import annotations

from math import isnan

#: labels of the methods, in the order of Table 2
TABLE_2_METHODS = ("FedAvg", "FedCM", "SCAFFOLD", "FedSAM", "FedDyn", "FedSpeed", "A-FedPD", "A-FedPDSAM")
#: its columns
TABLE_2_COLUMNS = (
    ("CIFAR-10", "IID"),
    ("CIFAR-10", "Dir-1.0"),
    ("CIFAR-10", "Dir-0.1"),
    ("CIFAR-100", "IID"),
    ("CIFAR-100", "Dir-1.0"),
    ("CIFAR-100", "Dir-0.1"),
)
_LENET = """
81.87 .12  80.58 .15  75.57 .27  40.11 .17  39.65 .07  38.37 .14
80.34 .14  79.31 .33  72.89 .37  43.33 .13  42.35 .25  37.11 .51
84.25 .16  83.61 .14  78.66 .29  49.65 .06  49.11 .14  46.36 .30
83.22 .09  81.94 .13  77.41 .36  43.02 .09  42.83 .29  42.29 .23
84.49 .22  84.20 .14  79.51 .13  50.27 .11  49.64 .21  46.30 .26
86.01 .18  85.11 .21  80.86 .18  54.01 .15  53.45 .23  51.28 .18
85.31 .14  84.94 .13  80.28 .20  51.41 .15  51.17 .17  48.15 .28
86.47 .18  85.90 .29  81.96 .19  55.56 .27  54.62 .16  53.15 .19
"""
_RESNET_18 = """
81.67 .21  80.94 .17  76.24 .35  44.68 .21  44.27 .25  41.64 .27
84.22 .17  82.85 .21  76.93 .32  50.04 .16  48.66 .28  44.07 .30
84.31 .14  83.70 .11  78.70 .21  50.69 .21  50.28 .21  47.12 .34
83.79 .28  82.58 .19  77.83 .27  48.66 .29  48.42 .19  45.03 .22
83.71 .26  82.66 .15  79.44 .25  nan nan    nan nan    nan nan
86.90 .18  85.92 .24  81.47 .19  53.22 .28  52.75 .16  49.66 .13
85.11 .12  84.33 .16  81.05 .28  48.15 .22  48.02 .29  46.24 .26
87.44 .13  86.46 .25  82.48 .21  55.30 .23  53.49 .17  50.31 .23
"""

Cell = tuple[float, float]  # mean and deviation in percent; NaN where the paper prints "--" for a loss that oscillates


def _read(text: str) -> dict[tuple[str, str, str], Cell]:
    found = {}
    for method, line in zip(TABLE_2_METHODS, text.strip().splitlines(), strict=True):
        numbers = [float(entry) for entry in line.split()]
        cells = zip(numbers[::2], numbers[1::2], strict=True)
        for (data, split), cell in zip(TABLE_2_COLUMNS, cells, strict=True):
            found[method, data, split] = cell
    return found


#: Table 2: network, then (method, data set, split) to the test accuracy
TABLE_2 = {"LeNet": _read(_LENET), "ResNet-18": _read(_RESNET_18)}

#: Table 4, LeNet: data set, then target accuracy in percent, then the first round that reaches it; a method that is not there never did
TABLE_4 = {
    "CIFAR-10": {
        81.0: {
            "FedAvg": 501,
            "SCAFFOLD": 207,
            "FedSAM": 345,
            "FedDyn": 156,
            "FedSpeed": 170,
            "A-FedPD": 131,
            "A-FedPDSAM": 156,
        },
        83.5: {"SCAFFOLD": 468, "FedDyn": 355, "FedSpeed": 268, "A-FedPD": 252, "A-FedPDSAM": 218},
    },
    "CIFAR-100": {
        40.0: {
            "FedAvg": 772,
            "SCAFFOLD": 162,
            "FedSAM": 572,
            "FedDyn": 173,
            "FedSpeed": 222,
            "A-FedPD": 123,
            "A-FedPDSAM": 126,
        },
        49.0: {"SCAFFOLD": 677, "FedDyn": 495, "FedSpeed": 421, "A-FedPD": 303, "A-FedPDSAM": 220},
    },
}

#: Tables 5 (ResNet-18) and 6 (LeNet): seconds for a round of 100 local steps on an RTX 2080 Ti
SECONDS = {
    "ResNet-18": {
        "FedAvg": 22.06,
        "SCAFFOLD": 36.01,
        "FedSAM": 39.21,
        "FedDyn": 34.03,
        "FedSpeed": 56.10,
        "A-FedPD": 37.61,
        "A-FedPDSAM": 60.63,
    },
    "LeNet": {
        "FedAvg": 9.82,
        "SCAFFOLD": 11.42,
        "FedSAM": 12.53,
        "FedDyn": 11.76,
        "FedSpeed": 13.61,
        "A-FedPD": 11.71,
        "A-FedPDSAM": 13.90,
    },
}


def list_printed_rows() -> dict[str, list[list[float | None]]]:
    """The rows of each table as the paper has them: means with deviations, targets with rounds, seconds."""
    methods = [method for method in TABLE_2_METHODS if method in SECONDS["LeNet"]]
    found: dict[str, list[list[float | None]]] = {
        f"Table 2, {network}": [
            [number for column in TABLE_2_COLUMNS for number in cells[method, *column]] for method in TABLE_2_METHODS
        ]
        for network, cells in TABLE_2.items()
    }
    found["Table 4"] = [
        [target, *map(rounds.get, methods)] for by_target in TABLE_4.values() for target, rounds in by_target.items()
    ]
    tables = zip(("Table 5", "Table 6"), ("ResNet-18", "LeNet"), strict=True)
    return found | {table: [[SECONDS[network][m] for m in methods]] for table, network in tables}


def printed(cell: Cell) -> str:
    """Return a cell of Table 2 as the paper has it."""
    mean, deviation = cell
    return "--" if isnan(mean) else f"{mean:.2f} +- {deviation:.2f}"
