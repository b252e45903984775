"""Draw the way of one theorem: from its line in a ledger to its verdict, its page and its Rocq file."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LEDGER, JUDGED, SHOWN = "#f6e8d5", "#dce9f5", "#e2f0dc"
#: name, what it does, where its middle is, and its colour
BOXES = {
    "ledger": ("a line in a ledger", "Theorem(region, method, claim, script)", (0, 4), LEDGER),
    "claim": ("a claim", "state: id, source, faults", (3.4, 4), LEDGER),
    "sense": ("does it make sense?", "region, method, units", (6.8, 4), JUDGED),
    "round": ("the method's own round", "follow_states: on vectors of any n", (0, 2.7), JUDGED),
    "found": ("a proof is looked for", "prove_theorem: solvers, guesses", (3.4, 2.7), JUDGED),
    "checked": ("the proof is checked", "check_term: exact, no packages", (6.8, 2.7), JUDGED),
    "refuted": ("somebody tries to refute it", "refute_theorem: exact instances", (3.4, 1.4), JUDGED),
    "verdict": ("the verdict", "decide: fixed rules", (6.8, 1.4), JUDGED),
    "report": ("report, pages", "as_html", (0, 0.1), SHOWN),
    "pencil": ("the proof to follow", "explain_verdict", (3.4, 0.1), SHOWN),
    "rocq": ("Statement.v, Proof.v", "write_theorem_for_rocq", (6.8, 0.1), SHOWN),
}
ARROWS = (
    ("ledger", "claim"),
    ("claim", "sense"),
    ("sense", "round"),
    ("round", "found"),
    ("found", "checked"),
    ("round", "refuted"),
    ("checked", "verdict"),
    ("refuted", "verdict"),
    ("verdict", "report"),
    ("verdict", "pencil"),
    ("verdict", "rocq"),
)
WIDTH, HEIGHT = 2.9, 0.74

figure, axes = plt.subplots(figsize=(9, 4.8), layout="constrained")
axes.axis("off")
for title, text, (x, y), colour in BOXES.values():
    axes.add_patch(plt.Rectangle((x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT, facecolor=colour, edgecolor="0.3"))
    axes.text(x, y + 0.14, title, ha="center", va="center", weight="bold", fontsize=9.5)
    axes.text(x, y - 0.15, text, ha="center", va="center", fontsize=7.5)
for start, end in ARROWS:
    (x, y), (u, v) = BOXES[start][2], BOXES[end][2]
    if y == v:
        tail, head = (x + WIDTH / 2, y), (u - WIDTH / 2, v)
    else:
        tail, head = (x, y - HEIGHT / 2), (u, v + HEIGHT / 2)
    axes.annotate("", head, tail, arrowprops={"arrowstyle": "->", "color": "0.35"})
axes.set(xlim=(-1.6, 8.4), ylim=(-0.4, 4.5))
figure.savefig(Path(__file__).with_name("architecture.png"), dpi=110)
