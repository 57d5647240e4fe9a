"""`tlsim check-deals`: our own deals pass, planted faults are found, files are read or refused in one line."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import tlsim
from tlsim.chances.deal_check import check, holm
from tlsim.chances.deal_files import DealtHands, read
from tlsim.cli import main
from tlsim.engine.bulk import Deals
from tlsim.errors import InputError
from tlsim.rules.cards import names
from tlsim.rules.variantfiles import parse_variant

RULES = parse_variant("southern")
ALPHA = 0.01
Deck = list[int]


def fair(decks: int, players: int, cards: int, n: int, seed: int) -> DealtHands:
    hands = Deals(decks, players, cards, seed).hands(0, n)
    held = ((hands[:, :, None] >> np.arange(52)) & 1).sum(axis=0).astype(np.int8)
    return DealtHands(held.reshape(n, players, 52), cards, decks)


def unfair(deal: Callable[[random.Random], list[Deck]], n: int) -> DealtHands:
    rng = random.Random(7)
    held = np.zeros((n, 4, 52), np.int8)
    for k in range(n):
        for seat, hand in enumerate(deal(rng)):
            held[k, seat, hand] = 1
    return DealtHands(held, 13, 1)


def failed(dealt: DealtHands) -> set[str]:
    tests, _ = check(dealt, RULES, ALPHA)
    return {row["test"] for row in tests.to_dicts() if not row["fair"]}


# ---------------------------------------------------------------------------------------------- planted faults


def riffled(rng: random.Random, passes: int) -> Deck:
    """Return a sorted deck after a few riffles (Gilbert, Shannon and Reeds)."""
    deck = list(range(52))
    for _ in range(passes):
        top = sum(rng.random() < 0.5 for _ in range(52))
        left, right, deck = deck[:top], deck[top:], []
        while left or right:
            deck.append((left if rng.random() * (len(left) + len(right)) < len(left) else right).pop(0))
    return deck


def three_riffles(rng: random.Random) -> list[Deck]:
    deck = riffled(rng, 3)
    return [deck[seat::4] for seat in range(4)]


def five_riffles(rng: random.Random) -> list[Deck]:
    deck = riffled(rng, 5)
    return [deck[13 * seat : 13 * seat + 13] for seat in range(4)]


def modulo_biased(rng: random.Random) -> list[Deck]:
    """Shuffle by swaps with a random byte modulo what is left."""
    deck = list(range(52))
    for i in range(51, 0, -1):
        j = rng.randrange(256) % (i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return [deck[13 * seat : 13 * seat + 13] for seat in range(4)]


def sticky(rng: random.Random) -> list[Deck]:
    """Now and then swap the 3S to seat 0."""
    deck = list(range(52))
    rng.shuffle(deck)
    if rng.random() < 0.15:
        at, to = deck.index(0), rng.randrange(13)
        deck[at], deck[to] = deck[to], deck[at]
    return [deck[13 * seat : 13 * seat + 13] for seat in range(4)]


def four_at_a_time(rng: random.Random) -> list[Deck]:
    """Cut a deck that was gathered by tricks, and deal four cards at a time."""
    deck = list(range(52))
    cut = rng.randrange(52)
    deck = deck[cut:] + deck[:cut]
    blocks = [deck[i : i + 4] for i in range(0, 48, 4)] + [[card] for card in deck[48:]]
    return [[card for block in blocks[seat::4] for card in block] for seat in range(4)]


FAULTS = {
    "three riffles, dealt one by one": (three_riffles, 1000, {"pairs of cards", "ranks"}),
    "five riffles, a hand at a time": (five_riffles, 1000, {"cards by seat", "pairs of cards"}),
    "modulo": (modulo_biased, 4000, {"cards by seat"}),
    "a card that sticks": (sticky, 1500, {"single cards"}),
    "four at a time": (four_at_a_time, 100, {"pairs of cards", "ranks"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str) -> None:
    deal, n, expected = FAULTS[fault]
    assert expected <= failed(unfair(deal, n))


def test_what_sticks_is_named() -> None:
    _, outliers = check(unfair(sticky, 3000), RULES, ALPHA)
    assert outliers.row(0)[:2] == ("3S", "seat 0")


def test_dependent_deals_are_found() -> None:
    dealt = fair(1, 4, 13, 400, 1)
    swapped = dealt.held.copy()
    swapped[1::2, :, :20] = swapped[::2, :, :20]  # the lower cards stay where they were
    assert "serial dependence" in failed(DealtHands(swapped, 13, 1))
    assert "repeated deals" in failed(DealtHands(np.concatenate([dealt.held, dealt.held[:1]]), 13, 1))


# ---------------------------------------------------------------------------------------------- fair deals


def test_false_alarms(request: pytest.FixtureRequest) -> None:
    """Of fair files as many fail as stated, up to chance; `scripts/deep` has 1,000 of each."""
    files = request.config.getoption("--fair-files")
    for decks, players, cards, n in ((1, 4, 13, 300), (1, 3, 13, 300), (2, 5, 20, 200)):
        alarms = sum(bool(failed(fair(decks, players, cards, n, seed))) for seed in range(files))
        print(f"{decks} deck(s), {players} players: {alarms} of {files} fair files fail at alpha = {ALPHA}")
        assert alarms <= files * ALPHA + 3.5 * math.sqrt(files * ALPHA) + 1


def test_p_values_are_uniform() -> None:
    p = [[row["p"] for row in check(fair(1, 4, 13, 200, seed), RULES, ALPHA)[0].to_dicts()] for seed in range(60)]
    for test in np.array(p).T[:5]:
        assert 0.35 < test.mean() < 0.65
        assert test.min() < 0.15
        assert test.max() > 0.85


def test_detectable_effects_are_found_as_often_as_stated() -> None:
    """A card is moved to seat 0 as often as makes the stated effect: it is found about nine times in ten."""
    n, found = 400, 0
    tests, _ = check(fair(1, 4, 13, n, 0), RULES, ALPHA)
    effect = next(row["effect"] for row in tests.to_dicts() if row["test"] == "single cards")
    rng = np.random.default_rng(1)
    for seed in range(40):
        dealt = fair(1, 4, 13, n, seed)
        for deal in np.flatnonzero(rng.random(n) < effect * 0.25 / 0.75):
            holder = int(dealt.held[deal, :, 0].argmax())
            card = int(np.flatnonzero(dealt.held[deal, 0])[0])
            if holder:
                dealt.held[deal, [0, holder], 0] = [1, 0]
                dealt.held[deal, [0, holder], card] = [0, 1]
        found += "single cards" in failed(dealt)
    assert 30 <= found <= 40


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
    assert holm([0.5, 0.9]) == [1.0, 1.0]


# ---------------------------------------------------------------------------------------------- files


def write(path: Path, held: NDArray[np.int8], form: str) -> None:
    deals = [[" ".join(names(sum(1 << int(c) for c in np.flatnonzero(hand)))) for hand in deal] for deal in held]
    if form == "jsonl":
        lines = [json.dumps({"hands": [hand.split() for hand in deal]}) for deal in deals]
    elif form == "long":
        lines = ["deal,seat,cards"] + [f"{k},{s},{hand}" for k, deal in enumerate(deals) for s, hand in enumerate(deal)]
    else:
        lines = ["north,east,south,west"] * (form == "headed") + [",".join(deal) for deal in deals]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("form", ["jsonl", "long", "headed", "plain"])
def test_files(tmp_path: Path, form: str) -> None:
    dealt = fair(1, 4, 13, 50, 3)
    write(tmp_path / "deals", dealt.held, form)
    found = read(tmp_path / "deals")
    assert np.array_equal(found.held, dealt.held)
    assert (found.cards, found.decks) == (13, 1)


BAD = {
    "missing": (None, "No such file"),
    "empty": ("", "no deals"),
    "no card": ("3S 4S,5S 6S\n3S XX,5S 6S\n", "line 2: unknown card 'XX'"),
    "a hand too many": ("3S 4S,5S 6S\n3S,4S,5S\n", "line 2: 3 hands, but the first deal has 2"),
    "unequal hands": ("3S 4S,5S\n", "all hands must have as many cards, but they have 1 to 2"),
    "three copies": ("3S 3S,3S 4S\n", "one is dealt 3 times in a deal"),
    "no transcript": ('{"hans": []}\n', "line 1: not a transcript"),
    "broken JSON": ('{"hands": [["3S"], ["4S"]]}\n{"hands"\n', "line 2: not a transcript"),
    "a cell short": ("deal,seat,cards\n1,0\n", "line 2: 2 cells under 3 names"),
    "too few": ("3S 4S,5S 6S\n" * 5, "at least 30 deals, got 5"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_file_of_deals(case: str, tmp_path: Path) -> None:
    text, message = BAD[case]
    if text is not None:
        (tmp_path / "deals").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        tlsim.check_deals(tmp_path / "deals")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def run(*args: str) -> Any:
    return CliRunner().invoke(main, list(args))


def test_command(tmp_path: Path) -> None:
    lines = run("replay", "--seed", "1", "--deal", "0:60", "--format", "jsonl").stdout
    (tmp_path / "fair.jsonl").write_text(lines, encoding="utf-8")
    good = run("check-deals", str(tmp_path / "fair.jsonl"))
    assert good.exit_code == 0
    assert max(map(len, good.stdout.splitlines())) <= 100
    write(tmp_path / "unfair.csv", unfair(four_at_a_time, 40).held, "headed")
    bad = run("check-deals", str(tmp_path / "unfair.csv"), "--format", "json")
    assert bad.exit_code == 1
    rows = {row["test"]: row for row in json.loads(bad.stdout)["tables"]["tests"]}
    assert not rows["pairs of cards"]["fair"]
    assert rows["pairs of cards"]["p_corrected"] >= rows["pairs of cards"]["p"]
    wrong = run("check-deals", str(tmp_path / "unfair.csv"), "--alpha", "5")
    assert (wrong.exit_code, wrong.stderr) == (2, "tlsim: alpha must lie between 0 and 1, as 0.01, got 5.0\n")
