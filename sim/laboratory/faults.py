"""Commands that disturb: crashes, partitions, messages lost or late, slow disks, points held.

Source of the ideas: tikv/tikv components/test_raftstore (transport_simulate.rs), failpoints.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.laboratory import Command, Laboratory
from sim.laboratory.setup import tikv_keys
from sim.laboratory.stores import checked_store
from sim.laboratory.values import duration_ns, show_duration, size_bytes
from sim.laboratory.words import Words, plain, suggestion
from sim.raftstore.failpoints import POINTS
from sim.server.control import ONLINE_KEYS, Control
from sim.transport.filters import ANY, KINDS, MessageFilter
from sim.transport.messages import DiskUsage
from sim.transport.nodes import store_name


def _store(lab: Laboratory, words: Words) -> int:
    return checked_store(lab.cluster, words.number_at("store", "the store"))


def _store_order(order: Callable[[Control, int], None]) -> Callable[[Laboratory, Words], None]:
    """Returns the command that gives one store an order."""

    def run(lab: Laboratory, words: Words) -> None:
        store = _store(lab, words)
        order(lab.control, store)

    return run


def isolate(lab: Laboratory, words: Words) -> None:
    """Cuts nodes off from all others."""
    names = [_node(lab, word) for word in words.rest()]
    if not names:
        raise ScriptProblem("whom? write isolate 1, or isolate store-1 tidb-0")
    lab.control.isolate(names)


def partition(lab: Laboratory, words: Words) -> None:
    """Cuts the network into groups."""
    groups: list[list[str]] = [[]]
    for word in words.rest():
        if word == "|":
            groups.append([])
        else:
            groups[-1].append(_node(lab, word))
    if len(groups) < 2 or not all(groups):
        raise ScriptProblem("into which groups? write partition 1 | 2 3")
    lab.control.partition(groups)


def _node(lab: Laboratory, word: str) -> str:
    """Returns a node's name; a bare number is a store."""
    name = store_name(int(word)) if word.isdecimal() else plain(word)
    known = [*(store_name(store) for store in lab.cluster.stores), "tidb-0", "pd"]
    if name not in known:
        raise ScriptProblem(f"no node {word}; {suggestion(name, known, ', '.join(known))}")
    return name


def heal(lab: Laboratory, _: Words) -> None:
    """Takes back every isolation and partition."""
    lab.control.heal()


def disturb(lab: Laboratory, words: Words, *, delays: bool) -> None:
    """Drops or delays messages of a kind, until the rule is taken back."""
    kind = _message_kind(words)
    by_ns = 0
    if delays:
        by_ns = words.duration_ns("by", "0") or duration_ns(words.next("how long"))
    src, dst, region = words.number("from"), words.number("to"), words.number("region")
    name = words.as_name or f"rule{len(lab.rules) + 1}"
    if name in lab.rules:
        raise ScriptProblem(f"a rule {name} is there already; allow {name} first")
    lab.rules[name] = lab.cluster.filters.delay(kind, by_ns, src=src, dst=dst, region=region)


def _message_kind(words: Words) -> str:
    asked = words.next("the kind of message").removeprefix("Msg")
    by_name = {plain(kind): kind for kind in (*KINDS, ANY, "all")}
    kind = by_name.get(plain(asked))
    if kind is None:
        hint = suggestion(asked, [*KINDS, ANY], ", ".join(KINDS))
        raise ScriptProblem(f"no message {asked}; {hint}")
    return ANY if kind == "all" else kind


def allow(lab: Laboratory, words: Words) -> None:
    """Takes message rules back, all or by name."""
    names = words.rest() or list(lab.rules)
    for name in names:
        if name not in lab.rules:
            hint = suggestion(name, list(lab.rules), "allow, to take all back")
            raise ScriptProblem(f"no rule {name}; {hint}")
        lab.cluster.filters.remove(lab.rules.pop(name))


def rules(lab: Laboratory, _: Words) -> str:
    """Shows the message rules and how many messages each has met."""
    return "\n".join(f"{name}: {_show_rule(rule)}" for name, rule in lab.rules.items()) or "none"


def _show_rule(rule: MessageFilter) -> str:
    does = f"delay {show_duration(rule.delay_ns)}" if rule.delay_ns else "drop"
    parts = [does, rule.kind]
    parts += [f"from {rule.src}"] if rule.src else []
    parts += [f"to {rule.dst}"] if rule.dst else []
    parts += [f"region {rule.region}"] if rule.region else []
    return f"{' '.join(parts)}, {rule.hits} messages"


def point_of(word: str) -> str:
    """Returns the name of a point at which the model can be held.

    Raises:
        ScriptProblem: if there is none.
    """
    name = word.lower().replace("-", "_")
    if name not in POINTS:
        hint = suggestion(name, list(POINTS), "one of " + ", ".join(POINTS))
        raise ScriptProblem(f"no point {word}; {hint}")
    return name


def hold(lab: Laboratory, words: Words) -> None:
    """Stops whatever comes to a named point."""
    point, store, region = _point_words(words)
    lab.cluster.failpoints.hold(point, store=store, region=region)


def release(lab: Laboratory, words: Words) -> None:
    """Lets what the same words hold go on."""
    point, store, region = _point_words(words)
    holds = lab.cluster.failpoints
    if (point, store, region) not in holds.held():
        said = [_hold_words(*held) for held in holds.held()]
        raise ScriptProblem(
            f"{_hold_words(point, store, region)} is not held; "
            + (f"release what is: {', '.join(said)}" if said else "nothing is")
        )
    holds.release(point, store=store, region=region)


def _hold_words(point: str, store: int, region: int) -> str:
    at = f" store={store}" if store else ""
    return point + at + (f" region={region}" if region else "")


def _point_words(words: Words) -> tuple[str, int, int]:
    store, region = words.number("store"), words.number("region")
    point = point_of(words.next("the point"))
    return point, store, region


def fail_write(lab: Laboratory, words: Words) -> None:
    """Lets the engine fail at the next writes."""
    proposed = words.flag("after-propose")
    store, region = words.number("store"), words.number("region")
    times = words.number("times", 1)
    lab.cluster.failpoints.fail_writes(times, store=store, region=region, proposed=proposed)


def held(lab: Laboratory, _: Words) -> str:
    """Shows how many are stopped at each point."""
    holds = lab.cluster.failpoints
    lines = [f"{point}: {holds.waiting(point)}" for point in POINTS if holds.waiting(point)]
    return "\n".join(lines) or "nothing is held"


def set_config(lab: Laboratory, words: Words) -> None:
    """Changes TiKV's configuration while it runs."""
    store = words.number("store")
    keys = tikv_keys(words.other_options())
    if not keys:
        raise ScriptProblem("which key? write set-config pessimistic-txn.in-memory=false")
    for key, value in keys.items():
        if key not in ONLINE_KEYS:
            hint = suggestion(key, list(ONLINE_KEYS), "set-config with one of them")
            raise ScriptProblem(f"{key} cannot be changed while a store runs; {hint}")
        is_size = key.endswith("-limit")
        if not is_size and not isinstance(value, bool):
            raise ScriptProblem(f"{key} must be true or false, is {value}; write {key}=true")
        wanted = size_bytes(str(value)) if is_size else value
        lab.control.set_config(key, wanted, store=store or None)


def upgrade(lab: Laboratory, words: Words) -> None:
    """Gives a store another version of TiKV."""
    store = _store(lab, words)
    words.skip("to")
    version = words.text("to", "version", "") or words.next("the version")
    try:
        lab.control.upgrade_store(store, version)
    except ValueError as error:
        raise ScriptProblem(str(error)) from None


def slow_disk(lab: Laboratory, words: Words) -> None:
    """Makes a store's disk slower by a factor; 1: as before."""
    store = _store(lab, words)
    words.skip("by")
    factor = words.text("factor", "by", "") or words.next("the factor")
    try:
        lab.control.slow_disk(store, float(factor))
    except ValueError:
        raise ScriptProblem(f"{factor!r} is not a factor; write slow-disk {store} 10") from None


def fill_disk(lab: Laboratory, words: Words) -> None:
    """Fills a store's disk, almost or completely."""
    almost, already = words.flag("almost-full"), words.flag("already-full")
    store = _store(lab, words)
    if almost and already:
        raise ScriptProblem("a disk is almost-full or already-full; write one of them")
    usage = DiskUsage.ALMOST_FULL if almost else DiskUsage.ALREADY_FULL
    lab.control.fill_disk(store, usage)


COMMANDS: Final = (
    Command("crash STORE", _store_order(Control.crash_store)),
    Command("restart STORE", _store_order(Control.restart_store)),
    Command("isolate NODE…", isolate),
    Command("partition NODE… | NODE…", partition),
    Command("heal", heal),
    Command(
        "drop MESSAGE [from=STORE] [to=STORE] [region=REGION] [as NAME]",
        partial(disturb, delays=False),
    ),
    Command(
        "delay MESSAGE TIME [from=STORE] [to=STORE] [region=REGION] [as NAME]",
        partial(disturb, delays=True),
    ),
    Command("allow [NAME…]", allow),
    Command("rules", rules),
    Command("hold POINT [store=STORE] [region=REGION]", hold),
    Command("release POINT [store=STORE] [region=REGION]", release),
    Command("held", held),
    Command("fail-write [after-propose] [times=1] [store=STORE] [region=REGION]", fail_write),
    Command("set-config TIKV.KEY=VALUE… [store=STORE]", set_config),
    Command("upgrade STORE VERSION", upgrade),
    Command("slow-disk STORE FACTOR", slow_disk),
    Command("fill-disk STORE [almost-full] [already-full]", fill_disk),
    Command("free-disk STORE", _store_order(Control.free_disk)),
)
