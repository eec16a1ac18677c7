"""How many false statements about real changes the ledger finds, and what it says of true ones.

    python bench/lies.py [--half NAME] [--most 40] [--seed N] [--show N] [--debug] [--json]
    python bench/lies.py --half awkward_round5 --clones FOLDER [--count]

Every step is the shape of a real commit of a public repository, rebuilt in git with made-up bodies; its
evidence is collected as in a run. What is true of it is decided when it is made, never by the code under
test. A generator says it in many ways, and says false siblings of every kind. Ends with 1 unless the floors
are met.

The statements of `awkward_round5` are about real commits as they are: FOLDER has the clones, each named
OWNER+NAME. `--count` prints how many statements of each kind a set written by hand has, and judges none.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from open_world import awkward_blind, awkward_fourth, awkward_held_out, awkward_round5, awkward_third
from open_world.case import Case
from open_world.cases import cases_of, checked_cases_of
from open_world.facts import load_commits
from open_world.judging import Judged, build_repository, judge, names_word, step_of
from open_world.statements import BLIND, HALVES, Speaker, Statement
from open_world.tables import figures_of, print_tables, unmet_floors
from open_world.worlds import World, checked_worlds, make_world

AWKWARD = {
    each.HALF: each.REPOSITORIES for each in (awkward_held_out, awkward_blind, awkward_third, awkward_fourth)
}
"""Half -> its repositories. What is blind is not among "both": nobody looks at it while the judge changes."""
BY_HAND = (*AWKWARD, awkward_round5.HALF)


def statements_of(worlds: list[World], half: str, seed: int, most: int) -> list[tuple[World, Statement]]:
    """At most so many true and so many false statements of each kind, and their worlds."""
    rng = random.Random(f"{seed} {half}")
    speaker = Speaker(half, rng)
    pool: dict[tuple[str, bool | None, str], list[tuple[World, Case]]] = defaultdict(list)
    for world in worlds:
        is_checked = any(run.is_check for run in world.runs)
        for case in (checked_cases_of if is_checked else cases_of)(world, rng):
            pool[case.kind, case.truth, case.variant].append((world, case))
    variants: dict[tuple[str, bool | None], int] = defaultdict(int)
    for kind, truth, _ in pool:
        variants[kind, truth] += 1
    said = []
    for (kind, truth, _), cases in pool.items():
        share = -(-most * (1 if truth else 2) // variants[kind, truth])
        for world, case in rng.sample(cases, k=min(share, len(cases))):
            statement = speaker.say(case, world)
            if statement is not None:
                said.append((world, statement))
    return said


def awkward_of(half: str, clones: Path | None) -> list[tuple[World, list[Statement]]]:
    """The worlds of a set written by hand, each with what is said of it; real commits come from clones."""
    if half in AWKWARD:
        return awkward_held_out.awkward_worlds(AWKWARD[half], half)
    if clones is None:
        sys.exit(f"{half} is about real commits: name the folder with the clones, --clones FOLDER")
    return awkward_held_out.awkward_worlds(awkward_round5.repositories(clones), half)


def run(
    half: str, seed: int, most: int, worlds_of: int | None = None, clones: Path | None = None
) -> list[Judged]:
    """Makes the worlds, says what there is to say, and has it judged."""
    commits = load_commits()
    if worlds_of is not None:
        commits = random.Random(seed).sample(commits, k=min(worlds_of, len(commits)))
    worlds = [make_world(commit, seed) for commit in commits]
    worlds += checked_worlds() if half not in BY_HAND else []
    generated = len(worlds)
    with tempfile.TemporaryDirectory(prefix="segue-lies-") as name:
        folder = Path(name).resolve()
        by_hand = awkward_held_out.HALF if half == "both" else half
        awkward = awkward_of(by_hand, clones) if by_hand in BY_HAND and worlds_of is None else []
        worlds += [world for world, _ in awkward]
        build_repository(folder, worlds)
        by_world: dict[int, list[Statement]] = defaultdict(list)
        for each in HALVES if half == "both" else (half,) if half not in BY_HAND else ():
            for world, statement in statements_of(worlds[:generated], each, seed, most):
                by_world[id(world)].append(statement)
        for world, statements in awkward:
            by_world[id(world)] = statements
        judged = []
        for world in worlds:
            said = by_world[id(world)]
            step = step_of(folder, world, [each.text for each in said])
            judged += [judge(step, each, at) for at, each in enumerate(said)]
        return judged


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--half", choices=[*HALVES, BLIND, *BY_HAND, "both"], default="both", help="which phrasings"
    )
    parser.add_argument("--seed", type=int, default=1, help="which statements are made")
    parser.add_argument(
        "--most", type=int, default=40, help="true statements of a kind; false ones twice as many"
    )
    parser.add_argument("--worlds", type=int, help="so many commits only")
    parser.add_argument("--kind", help="show and count this kind only")
    parser.add_argument("--show", type=int, default=0, help="so many failures of each kind")
    parser.add_argument("--debug", action="store_true", help="every statement with what was said of it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--clones", type=Path, help="folder with clones of public repositories")
    parser.add_argument("--count", action="store_true", help="count the statements of a set, judge none")
    options = parser.parse_args()
    if options.count:
        if options.half not in BY_HAND:
            parser.error(f"--count is for the sets written by hand: {', '.join(BY_HAND)}")
        print_counts(awkward_of(options.half, options.clones))
        return
    began = time.monotonic()
    judged = run(options.half, options.seed, options.most, options.worlds, options.clones)
    if options.kind:
        judged = [each for each in judged if each.statement.case.kind == options.kind]
    figures = figures_of(judged)
    unmet = unmet_floors(judged)
    if options.debug:
        for each in judged:
            print(line_of(each))
    if options.json:
        print(
            json.dumps(
                {"seconds": round(time.monotonic() - began, 1), "unmet": unmet, "halves": figures}, indent=2
            )
        )
    else:
        show_failures(judged, options.show)
        print_tables(figures)
        print(f"{len(judged)} statements in {time.monotonic() - began:.0f} s")
        for line in unmet:
            print(f"floor not met: {line}")
    sys.exit(1 if unmet else 0)


def print_counts(awkward: list[tuple[World, list[Statement]]]) -> None:
    """How many true and false statements of each kind there are; a false word has to be in its statement."""
    counts: Counter[tuple[str, bool | None]] = Counter()
    for world, statements in awkward:
        assert world.before != world.after
        for each in statements:
            for word in each.false_words:
                assert names_word(each.text, word), f"{word!r} is not in {each.text!r}"
            counts[each.case.kind, each.case.truth] += 1
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind:<18}{counts[kind, True]:>6} true{counts[kind, False]:>6} false")
    total = {truth: sum(n for (_, each), n in counts.items() if each is truth) for truth in (True, False)}
    print(f"{'all':<18}{total[True]:>6} true{total[False]:>6} false, of {len(awkward)} worlds")


def line_of(judged: Judged) -> str:
    """A statement, its truth, its verdict and why, on a few lines."""
    case = judged.statement.case
    truth = {True: "true", False: f"FALSE ({case.variant})", None: "unknown"}[case.truth]
    aside = ", with an aside" if judged.statement.has_aside else ""
    why = "".join(f"\n      {each}" for each in judged.reasons)
    return f"[{case.kind}] {truth}{aside} -> {judged.verdict}: {judged.statement.text!r}{why}"


def show_failures(judged: list[Judged], most: int) -> None:
    """The first failures of each kind, the worst first."""
    worst: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for each in judged:
        case, verdict = each.statement.case, each.verdict
        if case.truth is False and verdict != "refuted" and not (verdict == "partly" and each.is_caught):
            worst[case.kind, f"false, and {verdict}"].append(each)
        elif case.truth and verdict not in ("confirmed", "partly"):
            worst[case.kind, f"true, and {verdict}"].append(each)
        elif verdict == "confirmed" and (case.truth is None or each.statement.has_aside):
            worst[case.kind, "confirmed with a part that no record can tell"].append(each)
    for (kind, what), found in sorted(worst.items()):
        if most:
            print(f"== {kind}: {what}: {len(found)}")
        for each in found[:most]:
            print("  " + line_of(each))


if __name__ == "__main__":
    main()
