"""Draw the ten rooms of the package, and which way imports point."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

#: from the top: a room imports only rooms below it
FLOORS = (
    (("command_line", "what a terminal asks"),),
    (("claims", "what papers say, what judges it,\nthe verdicts"),),
    (
        ("proofs", "a method over a whole class\nof functions, for every n"),
        ("conformance", "is this code the paper's\nmethod?"),
    ),
    (("running", "one run, many runs,\nthe search for a violation"),),
    (("measures", "what is read off a run: metrics,\nground truth, duality, rates, KL"),),
    (("algorithms", "one round of each method,\none file each"),),
    (
        ("local", "what a client does with\nits subproblem"),
        ("tools", "jobs, journals, pictures:\nnothing of optimisation"),
    ),
    (("core", "arrays, problems, participation,\nrandomness, errors"),),
)
BESIDE = (
    ("paper_checks", 6.0, "a folder a paper:\nits statements, tables, protocols"),
    ("problems", 0.8, "instances: data, losses,\ngradients, certified constants"),
)

figure, axes = plt.subplots(figsize=(9, 6.6), layout="constrained")
axes.axis("off")


def draw_room(x: float, y: float, name: str, text: str, colour: str, width: float = 2.9) -> None:
    """Draw one box with its name and what is in it."""
    axes.add_patch(plt.Rectangle((x - width / 2, y - 0.36), width, 0.72, facecolor=colour, edgecolor="0.3"))
    axes.text(x, y + 0.17, name, ha="center", va="center", weight="bold", fontsize=10)
    axes.text(x, y - 0.14, text, ha="center", va="center", fontsize=7.5, linespacing=1.0)


for floor, rooms in enumerate(FLOORS):
    y = len(FLOORS) - 1 - floor
    for number, (name, text) in enumerate(rooms):
        draw_room(3.1 * (number - (len(rooms) - 1) / 2), y, name, text, "#dce9f5")
    if floor:
        axes.annotate("", (0, y + 0.36), (0, y + 0.64), arrowprops={"arrowstyle": "->", "color": "0.35"})
for name, y, text in BESIDE:
    draw_room(6.0, y, name, text, "#f6e8d5", 3.1)
axes.annotate("", (1.6, 6.0), (4.4, 6.0), arrowprops={"arrowstyle": "->", "color": "0.35"})
axes.annotate("", (6.0, 1.2), (6.0, 5.6), arrowprops={"arrowstyle": "->", "color": "0.35"})
axes.annotate("", (1.5, 0.1), (4.4, 0.7), arrowprops={"arrowstyle": "->", "color": "0.35"})
axes.text(0, 7.75, "fedtheory: a room imports only rooms below it", ha="center", fontsize=11)
axes.set(xlim=(-3.4, 7.7), ylim=(-0.5, 8.0))
figure.savefig(Path(__file__).with_name("rooms.png"), dpi=110)
