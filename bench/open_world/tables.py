"""Counts verdicts by kind, holds them against the floors, and prints them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from open_world.case import GROUPS
from open_world.judging import NOT_READ, Judged

ENDS = ("refuted", "partly, caught", "partly", "unverifiable", NOT_READ, "confirmed")
_HARD = ("files", "symbols", "tests", "commands", "counts", "awkward")
REFUTED, CONFIRMED, SUPPORTED = 0.70, 0.45, 0.75
"""The floors: false statements refuted; true ones confirmed; true ones confirmed or partly."""


def end_of(judged: Judged) -> str:
    """The verdict, with `partly` of a false statement by whether it names the false part."""
    is_caught = judged.verdict == "partly" and judged.statement.case.truth is False and judged.is_caught
    return "partly, caught" if is_caught else judged.verdict


def group_of(kind: str) -> str:
    """The group of a kind."""
    return next(group for group, kinds in GROUPS.items() if kind in kinds)


Figures: TypeAlias = dict[str, dict[str, dict[str, Counter[str]]]]
"""Half -> true, false or unknown -> kind or group -> how many ended how."""


def figures_of(judged: Iterable[Judged]) -> Figures:
    """All counts."""
    found: Figures = {}
    for each in judged:
        case = each.statement.case
        truth = {True: "true", False: "false", None: "unknown"}[case.truth]
        table = found.setdefault(each.statement.half, {}).setdefault(truth, {})
        group = group_of(case.kind)
        names = [case.kind, f"all {group}"] + (["all of the floor"] if group in _HARD else [])
        for name in dict.fromkeys(names):
            counts = table.setdefault(name, Counter())
            counts[end_of(each)] += 1
            if each.statement.has_aside:
                counts["with an aside"] += 1
                counts["aside confirmed"] += each.verdict == "confirmed"
    return found


def print_tables(figures: Figures) -> None:
    """The counts as tables, then what a constant verdict would score."""
    for half, by_truth in figures.items():
        for truth, table in by_truth.items():
            print(f"\n{half}: {truth} statements")
            print(f"{'kind':<18}{'all':>6}" + "".join(f"{end:>15}" for end in ENDS) + f"{'aside ticked':>14}")
            for name, counts in sorted(table.items(), key=lambda row: (row[0].startswith("all"), row[0])):
                total = sum(counts[end] for end in ENDS)
                cells = "".join(f"{counts[end]:>7} {100 * counts[end] / total:>5.1f} %" for end in ENDS)
                print(f"{name:<18}{total:>6}{cells}{counts['aside confirmed']:>14}")
    print("\na constant `partly`: false refuted 0 %, true confirmed 0 %, confirmed or partly 100 %")
    print("a constant `unverifiable`: false refuted 0 %, true confirmed 0 %, confirmed or partly 0 %\n")


def unmet_floors(judged: list[Judged]) -> list[str]:
    """The floors that are not met, a line for each."""
    out = []
    for half, by_truth in figures_of(judged).items():
        false, true = (by_truth.get(side, {}) for side in ("false", "true"))
        hard = false.get("all of the floor", Counter())
        total = sum(hard[end] for end in ENDS)
        if total and hard["refuted"] < REFUTED * total:
            out.append(f"{half}: {_share(hard['refuted'], total)} false statements refuted")
        ticked = sum(counts["confirmed"] for name, counts in false.items() if not name.startswith("all "))
        if ticked:
            out.append(f"{half}: {ticked} false statements confirmed")
        blind = sum(counts["confirmed"] for counts in by_truth.get("unknown", {}).values()) // 2
        if blind:
            out.append(f"{half}: {blind} statements confirmed that no record can tell")
        out += _unmet_for_true(half, true)
    return out


def _share(part: int, total: int) -> str:
    return f"{part} of {total} ({part / total:.1%})"


def _unmet_for_true(half: str, true: dict[str, Counter[str]]) -> list[str]:
    out = []
    whole: Counter[str] = Counter()
    for name, counts in true.items():
        if not name.startswith("all "):
            whole.update(counts)
    total = sum(whole[end] for end in ENDS)
    if whole["refuted"]:
        out.append(f"{half}: {whole['refuted']} true statements refuted")
    if whole["aside confirmed"]:
        out.append(f"{half}: {whole['aside confirmed']} asides confirmed that no record can tell")
    if total and whole["confirmed"] < CONFIRMED * total:
        out.append(f"{half}: {_share(whole['confirmed'], total)} true statements confirmed")
    supported = whole["confirmed"] + whole["partly"]
    if total and supported < SUPPORTED * total:
        out.append(f"{half}: {_share(supported, total)} true statements confirmed or partly")
    return out
