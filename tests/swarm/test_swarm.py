"""A short swarm in every test run: a seed says everything, and the sound model breaks no law."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sim.protocol.ablations import ABLATIONS
from sim.storage.flow_controller import FlowController
from sim.storage.request import KvRequest
from sim.swarm.fuzz import add_hits, never_hit, outcomes
from sim.swarm.recipe import VERBS, recipe_of
from sim.swarm.unit import outcome_of
from tests.swarm.covering_seeds import COVERING
from tests.swarm.replays import REPLAYS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_the_covering_seeds_break_nothing_and_hit_every_mark() -> None:
    total: dict[str, int] = {}
    for seed in COVERING:
        outcome = outcome_of(recipe_of(seed))
        assert outcome.violations == (), f"run_sim.py fuzz --start {seed} --seeds 1"
        add_hits(total, outcome.marks)
    assert never_hit(total) == []


FORMERLY_BROKEN = {
    26: "a merge proposed a lock that its command had replaced in the same round of applies",
    29: "a lock whose answer was lost was taken for an amended one",
    32: "a client took two ranges of one region id for one region",
    124: "a split's parent had given its records away while it still served them",
    145: "a crash lost entries that were durable and acknowledged",
    155: "a merge began although a replica of its source did not exist yet",
    173: "hibernating followers refused their votes for ever",
    359: "a leader fell asleep before its new replica had come to be",
    407: "a replica whose region was merged away without it barred the region it went into",
    424: "a merge began into a region that had just been merged away",
    475: "a command came back to a replica that had left before its process died",
    1297: "a replica that had become leader meanwhile answered itself",
    1470: "a replica made room for a region whose parent had still to take it over",
    3040: "what remains of an old region in a cache has its id in common with the region of now",
    4013: "a replica that had become leader meanwhile sent itself its answer to a transfer",
    4843: "an answer about entries that a failpoint held had overtaken them",
    5376: "the loss of locks that an old store had ignored had no name",
    6981: "a dead process woke a waiter, which took a latch in the next one for ever",
    7020: "a hibernating replica never asked whether it had been removed",
    9291: "PD believed a heartbeat that another, of more replicas, had overtaken",
    9511: "a replica came to lead in the middle of a split, with a table of neither version",
    701960: "a leader held before proposing its locks took another order for a repeated one",
    803514: "a leader whose append was held up applied an entry before the one in front of it",
    900360: "PD never heard of a merge whose leader was cut off from it at that moment",
    900554: "a merged region's source outlived the snapshot that its target's replica had got",
    904324: "a lock taken again after a rollback counted as replicated like the first",
}
"""Of the time when all regions had three replicas."""


@pytest.mark.parametrize("seed", FORMERLY_BROKEN)
def test_what_was_broken_is_mended(seed: int) -> None:
    recipe = REPLAYS.get(seed) or replace(recipe_of(seed), replicas=3)
    assert outcome_of(recipe).violations == (), FORMERLY_BROKEN[seed]


def test_a_leader_that_dies_as_it_gets_its_second_replica_is_elected_again() -> None:
    assert outcome_of(recipe_of(2000459)).violations == ()


def test_a_replica_learns_that_its_region_was_merged_away_without_it() -> None:
    assert outcome_of(recipe_of(4001763)).violations == ()


def test_some_stores_owe_more_compaction_than_they_can_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delayed = []
    sound = FlowController.delay

    def delay(flow: FlowController, request: KvRequest) -> None:
        delayed.append(request)
        sound(flow, request)

    monkeypatch.setattr(FlowController, "delay", delay)
    assert outcome_of(recipe_of(105)).violations == ()
    assert len(delayed) > 100


def test_all_numbers_of_replicas_are_drawn() -> None:
    recipes = [recipe_of(seed) for seed in range(200)]
    assert {recipe.replicas for recipe in recipes} == {1, 2, 3, 4, 5}
    assert all(recipe.replicas <= recipe.stores for recipe in recipes)


FIRST_FAILURES = {
    "transfer_sends_deleted_locks": 21,
    "transfer_without_locks": 17,
    "transfer_keeps_table_writable": 2,
    "merge_without_fence": 17,
    "merge_drops_deleted_locks": 63,
    "split_drops_locks": 6,
    "split_keeps_deleted_marks": 6,
    "no_version_check": 28,
    "no_term_check": 21,
    "no_amend_check": 49,
}
"""By ablation, the first seed at which a checker says something."""


@pytest.mark.parametrize("ablation", ABLATIONS)
def test_what_a_protection_is_for_is_seen_without_it(ablation: str) -> None:
    recipe = recipe_of(FIRST_FAILURES[ablation])
    assert outcome_of(recipe.without((ablation,))).violations, f"fuzz --ablate {ablation}"
    assert outcome_of(recipe).violations == ()


def test_a_seed_gives_the_same_outcome_again() -> None:
    recipe = recipe_of(7)
    assert recipe_of(7) == recipe
    assert outcome_of(recipe) == outcome_of(recipe)


def test_a_seed_gives_the_same_outcome_whatever_the_hash_seed() -> None:
    call = (
        "from sim.swarm.recipe import recipe_of; from sim.swarm.unit import outcome_of;"
        "print([outcome_of(recipe_of(seed)).digest for seed in (1, 5, 9)])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", call],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert len(said) == 1


def test_the_number_of_processes_does_not_matter() -> None:
    assert list(outcomes(40, 6, 2)) == list(outcomes(40, 6, 1))


def test_seeds_differ_and_have_all_kinds_of_faults() -> None:
    recipes = [recipe_of(seed) for seed in range(200)]
    assert len({str(recipe) for recipe in recipes}) == 200
    of_races = {
        "hold_apply", "hold_writes", "away_and_back", "lag", "forget_routes", "reelect",
    }  # fmt: skip
    assert {fault.verb for recipe in recipes for fault in recipe.faults} == {*VERBS, *of_races}
    assert {recipe.behaviour for recipe in recipes} == {"v8.5", "v6.0", "rfc77"}
