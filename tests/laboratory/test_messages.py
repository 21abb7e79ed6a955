"""A mistake in a script gets its file and line, what is wrong, and how to mend it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.laboratory import run_script, run_text

MISTAKES = {
    "lokc t1 k1": "no command lokc; did you mean lock?",
    "lock t1 k1": "no transaction t1; write begin t1",
    "begin t1 start_ts=x": "'x' is not a timestamp; write 10, 200ms, 200ms+3 or now",
    "begin t1 start_tz=10": "no option start_tz; did you mean start-ts?",
    "begin": "the transaction's name is missing; write begin TXN",
    "begin t1 t2": "t2 is one word too many; write begin TXN",
    "lock 10": "a key is missing; write lock TXN KEY",
    "lock 10 k1 no-wiat": 'no-wiat looks like a word of this command; write no-wait, or "no-wiat"',
    "lock 10 k1 ttl=": "ttl= without a value",
    "lock 10 k1 ttl=5parsecs": "'5parsecs' is not a duration; write 200ms",
    "lock 10 k1 store=9": "no store 9; there are stores 1 to 3",
    "lock 10 k1 store=one": "store must be a whole number, is 'one'; write store=1",
    "lock 10 k1 epoch=2": "'2' is not an epoch; write epoch=CONF_VER:VERSION",
    "lock 10 k1 context=c": "no context c; write context c region=1",
    "lock 10 k1 as": "as without a name; write as r1",
    "lock 10 k1 ttl=1 ttl=2": "ttl appears twice",
    "lock 10 k1 return-values=perhaps": "neither true nor false",
    "prewrite 10": "nothing to prewrite; name keys",
    "prewrite 10 putt:k1=v": "no mutation 'putt'; did you mean put?",
    "prewrite 10 delete:k1=v": "delete has no value; write delete:k1",
    "wait r1": "nothing is called r1; write … as r1",
    "advance": "a duration is missing; write advance TIME",
    "advance soon": "'soon' is not a duration",
    "advance until later": "nothing is called later",
    "advance until status 1 Open": "no status Open; write Normal or",
    "scan a..b": "'a..b' is not a range; write [a, m)",
    "hold before_aply": "no point before_aply; did you mean before_apply?",
    "drop Appned2": "no message Appned2; did you mean Append?",
    "delay Append": "how long is missing",
    "allow r": "no rule r; write allow",
    "transfer-leader 1": "the store is missing; write transfer-leader REGION STORE",
    "transfer-leader 5 2": "no region 5; there are 1",
    "transfer-leader 1 9": "no store 9; there are stores 1 to 3",
    "split-region 2 k": "k lies in region 1, not in 2; write split-region k",
    "merge-region 1 1": "region 1 cannot be merged into itself",
    "isolate store-x": "no node store-x; did you mean",
    "partition 1 2": "into which groups? write partition 1 | 2 3",
    "set-config": "which key? write set-config pessimistic-txn.in-memory=false",
    "heartbeat 10": "10 has no primary yet; write primary=k1",
    "counters locks_lots": "no counter locks_lots",
    "cluster stores=0": "stores: must be 1 to 1000, is 0",
    "cluster stores=two": "stores must be a whole number",
    "cluster pessimistic-txn.in-memry=true": "did you mean pessimistic-txn.in-memory?",
    "cluster pessimistic-txn.in-memory=perhaps": "pessimistic-txn.in-memory: ",
    "cluster ticks=slow": "no ticks slow; write ticks=fast",
    "cluster ablate=no_trem_check": "did you mean no_term_check?",
    "cluster leaders=7": "region 1 lies on store 7",
    "cluster split=m leaders=1,1,1": "3 leaders for 2 regions",
    "region 1 [a, ) leader=1": "no region holds the keys before a",
    "region 1 [, m)": "no region holds the keys from m on",
    "region x [, m)": "region must be a whole number",
    "region 1 [, ) stores=2,3 leader=1": "has no replica on its leader, store 1",
    'lock 10 "k1': "a quote is not closed",
    "lock 10 k{5..1}": "goes over 10000 or backwards",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_says_how_to_mend_it(line: str) -> None:
    # ``locks`` needs the cluster, so mistakes in its regions come out there.
    at = 3 if line.startswith("region") else 2
    result = run_text(f"\n{line}\nlocks\n", "dir/s.txt")
    said = MISTAKES[line]
    assert result.problem.startswith((f"dir/s.txt:{at}: ", "dir/s.txt:2: ")), result.problem
    assert said in result.problem


def test_regions_come_before_everything_else() -> None:
    result = run_text("locks\nregion 1 [, )\n", "s.txt")
    assert result.problem.startswith("s.txt:2: regions come directly after cluster")


def test_keys_of_two_regions_are_two_commands() -> None:
    result = run_text("cluster split=m\n\nlock 10 a z\n", "s.txt")
    assert result.problem == (
        "s.txt:3: a and z lie in different regions; write a command for each, or region=1 to "
        "send both there"
    )


def test_a_split_key_lies_in_its_region() -> None:
    result = run_text("cluster split=m\n\nsplit-region 1 q\n", "s.txt")
    assert result.problem == "s.txt:3: q lies in region 2, not in 1; write split-region q"


def test_a_split_needs_a_key_behind_the_first() -> None:
    result = run_text("cluster split=m\n\nsplit-region m\n", "s.txt")
    assert result.problem.startswith("s.txt:3: m begins region 2")


def test_a_second_separator() -> None:
    result = run_text("locks\n----\nno locks\n----\n", "s.txt")
    assert result.problem.startswith("s.txt:4: a second ----")


def test_a_separator_without_a_command() -> None:
    result = run_text("# prose\n----\nno locks\n", "s.txt")
    assert result.problem.startswith("s.txt:2: ---- without a command")


@pytest.mark.parametrize("text", ["", "# prose\n"])
def test_a_script_without_a_command_has_checked_nothing(text: str) -> None:
    result = run_text(text, "s.txt")
    assert result.problem.startswith("s.txt: has no command; write some")


def test_what_is_no_file(tmp_path: Path) -> None:
    assert run_script(tmp_path / "none.txt").problem.endswith("no such file; check its name")
    assert "is a folder" in run_script(tmp_path).problem
    binary = tmp_path / "b.txt"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "save it as UTF-8" in run_script(binary).problem
