"""The chain of pollers and log against formulas, and against its own story told by dice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import log

import pytest

from sim.estimate.poller_chain import Asked, LongRun, long_run
from sim.streams import Streams

ASKED = Asked(
    pollers=3, bursts=0.6, burst=1.5, taking=0.8, writing=0.6, write=1.2, write_scv=1.0, met=0.3
)


def test_a_poller_that_never_writes_is_busy_while_mail_comes() -> None:
    found = long_run(replace(ASKED, pollers=1, writing=0.0, burst=1.0, bursts=0.5, taking=2.0))
    # Mail comes during half of the passes, so a round has two of them, and idles as long as one.
    assert found.lengthened == pytest.approx(found.woken)
    assert found.busy == pytest.approx(2 / 3)
    assert found.released == pytest.approx(0.0, abs=1e-12)
    # Who comes meanwhile waits for what is left of a pass.
    assert found.wait == pytest.approx(2.0 * found.busy)


def test_a_lone_poller_writes_after_each_round() -> None:
    found = long_run(replace(ASKED, pollers=1, writing=1.0, bursts=1e-6, burst=1.0, met=0.0))
    assert found.writes == pytest.approx(found.woken, rel=1e-4)
    assert found.busy == pytest.approx(1e-6 * (0.8 + 1.2), rel=1e-4)
    assert found.in_log == pytest.approx(1e-6 * 1.2, rel=1e-4)


def test_pollers_that_always_have_mail_are_machines_with_one_repairman() -> None:
    # M/M/1//2 (Gross et al., chapter 2): 0, 1, 2 pollers at the log are as likely as 1, 2r, 2r^2.
    found = long_run(replace(ASKED, pollers=2, writing=1.0, bursts=1e-9, met=1 - 1e-12))
    r = 1.2 / 0.8
    at_log = (2 * r + 2 * r**2) / (1 + 2 * r + 2 * r**2)
    assert found.writes == pytest.approx(at_log / 1.2, rel=1e-3)
    assert found.released == pytest.approx(found.writes, rel=1e-3)


@pytest.mark.parametrize("scv", [0.5, 1.0, 4.0])
def test_a_write_keeps_its_mean_whatever_its_variance(scv: float) -> None:
    found = long_run(replace(ASKED, pollers=1, write_scv=scv, writing=1.0))
    assert found.in_log == pytest.approx(found.writes * 1.2)


@pytest.mark.parametrize(
    "asked",
    [
        ASKED,
        replace(ASKED, met=0.0, burst=1.0),
        replace(ASKED, pollers=2, write_scv=4.0, bursts=0.4),
        replace(ASKED, pollers=5, burst=4.0, write=3.0, write_scv=0.5),
    ],
    ids=["as asked", "singly", "long writes", "many pollers"],
)
def test_dice_say_the_same(asked: Asked) -> None:
    found, thrown = long_run(asked), Dice(asked).long_run(120_000)
    for name in ("woken", "released", "lengthened", "writes", "busy", "in_log"):
        expected = getattr(found, name)
        assert getattr(thrown, name) == pytest.approx(expected, rel=0.03, abs=0.003), name
    assert thrown.followed == pytest.approx(found.followed, abs=0.02)


class Dice:
    """Pollers one by one, each with a state of its own; what happens next is drawn."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.random = Streams(1, 0).stream("dice")
        self.pollers = ["idle"] * asked.pollers
        self.phase = 0
        self.mail = False
        self.woken = self.released = self.lengthened = self.writes = self.followed = 0

    def long_run(self, steps: int) -> LongRun:
        now = busy = in_log = 0.0
        for _ in range(steps):
            rates = list(self._rates())
            total = sum(rate for rate, _ in rates)
            passed = -log(1 - self.random.random()) / total
            now += passed
            busy += passed * sum(state != "idle" for state in self.pollers)
            in_log += passed * sum(state in ("next", "write") for state in self.pollers)
            drawn = self.random.random() * total
            for rate, happen in rates:
                drawn -= rate
                if drawn <= 0:
                    happen()
                    break
        return LongRun(
            woken=self.woken / now,
            released=self.released / now,
            lengthened=self.lengthened / now,
            writes=self.writes / now,
            followed=self.followed / self.writes,
            busy=busy / now,
            in_log=in_log / now,
            wait=0.0,
        )

    def _rates(self) -> Iterator[tuple[float, Callable[[], None]]]:
        asked = self.asked
        yield asked.bursts, self._arrive
        for place, state in enumerate(self.pollers):
            if state == "handles":
                yield 1 / asked.taking, partial(self._handled, place)
        if self.phase == 1:
            yield 2 / asked.write, self._first_phase_over
        elif self.phase == 2:
            yield 1 / (asked.write * asked.write_scv), self._written

    def _arrive(self) -> None:
        messages = 1
        while self.random.random() < 1 - 1 / self.asked.burst:
            messages += 1
        for _ in range(messages):
            if "idle" in self.pollers:
                self.pollers[self.pollers.index("idle")] = "handles"
                self.woken += 1
            else:
                self.mail = True

    def _handled(self, place: int) -> None:
        if self.mail:
            self.mail = False
            self.lengthened += 1
        elif self.random.random() >= self.asked.writing:
            self.pollers[place] = "idle"
        elif self.phase:
            self.pollers[place] = "next"
        else:
            self.pollers[place] = "write"
            self.phase = 1

    def _first_phase_over(self) -> None:
        if self.random.random() < 1 / (2 * self.asked.write_scv):
            self.phase = 2
        else:
            self._written()

    def _written(self) -> None:
        self.writes += 1
        released = [place for place, state in enumerate(self.pollers) if state == "write"]
        again = [place for place in released if self.random.random() < self.asked.met]
        if self.mail and not again:
            again = released[:1]
        self.mail = False
        for place in released:
            self.pollers[place] = "handles" if place in again else "idle"
        self.released += len(again)
        waiting = [place for place, state in enumerate(self.pollers) if state == "next"]
        for place in waiting:
            self.pollers[place] = "write"
        self.phase = 1 if waiting else 0
        self.followed += bool(waiting)
