"""Quantities: every unit, exact arithmetic, and text that parses back to the same amount."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.scenario.fields import COST, LATENCY, TIMEOUT, Duration, Quantity, Wrong
from sim.scenario.quantities import BANDWIDTH, DURATION, RATE, SIZE, QuantityError, QuantityKind


@pytest.mark.parametrize(
    ("kind", "text", "amount"),
    [
        (DURATION, "800us", 800_000),
        (DURATION, "800 µs", 800_000),
        (DURATION, "0.5ms", 500_000),
        (DURATION, "1e3ns", 1_000),
        (DURATION, "2s", 2_000_000_000),
        (DURATION, "1.5min", 90_000_000_000),
        (DURATION, " 1h ", 3_600_000_000_000),
        (SIZE, "512KiB", 524_288),
        (SIZE, "512KB", 512_000),
        (SIZE, "0.5GiB", 536_870_912),
        (BANDWIDTH, "1.6GB/s", 1_600_000_000),
        (BANDWIDTH, "10Gbit/s", 1_250_000_000),
        (RATE, "2400/s", 2400.0),
        (RATE, "90/min", 1.5),
    ],
)
def test_reads_number_and_unit(kind: QuantityKind, text: str, amount: float) -> None:
    assert kind.parse(text) == amount


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (BANDWIDTH, 500, "500 has no unit; write 500MB/s or 500MiB/s"),
        (BANDWIDTH, "500", "500 has no unit; write 500MB/s or 500MiB/s"),
        (DURATION, 2.5, "2.5 has no unit; write 2.5s or 2.5ms"),
        (SIZE, "512Kib", "did you mean KiB?"),
        (DURATION, "5 sec", "'sec' is not a unit of duration; did you mean s?"),
        (DURATION, "5 MINUTES", "did you mean min?"),
        (DURATION, "5\N{GREEK SMALL LETTER MU}s", "did you mean \N{MICRO SIGN}s?"),
        (DURATION, "5 MB", "'MB' is not a unit of duration; use one of ns, us"),
        (BANDWIDTH, "10Gb", "did you mean Gbit/s?"),
        (BANDWIDTH, "10Mb/s", "did you mean Mbit/s?"),
        (BANDWIDTH, "10 gbps", "did you mean Gbit/s?"),
        (BANDWIDTH, "10 mb/s", "did you mean MB/s?"),
        (BANDWIDTH, "10 MiB", "did you mean MiB/s?"),
        (DURATION, "5 parsecs", "is not a unit of duration"),
        (DURATION, "fast", "'fast' is not a duration; write, for example, 5s"),
        (DURATION, "1_000ns", "is not a duration"),
        (DURATION, "0.5ns", "not a whole number of ns"),
        (SIZE, None, "must be a size, is nothing"),
        (SIZE, True, "must be a size, is true"),
        (SIZE, ["1MiB"], "must be a size, is a list"),
        (DURATION, "1" * 500 + "s", "is not a duration"),
        (DURATION, "1e99999s", "is not a"),
        (DURATION, "", "is not a duration"),
        (DURATION, "٣s٤", "is not a"),
    ],
)
def test_says_what_to_write_instead(kind: QuantityKind, value: object, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        kind.parse(value)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


@given(st.sampled_from([DURATION, SIZE, BANDWIDTH]), st.integers(min_value=0, max_value=2**60))
def test_text_is_the_inverse_of_parsing(kind: QuantityKind, amount: int) -> None:
    assert kind.parse(kind.text_of(amount)) == amount


@given(st.floats(min_value=0.01, max_value=1e7))
def test_text_of_a_rate_keeps_every_digit(rate: float) -> None:
    assert RATE.parse(RATE.text_of(rate)) == rate


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (COST, "80 has no unit; write 80us or 80ms"),
        (LATENCY, "80 has no unit; write 80us or 80ms"),
        (TIMEOUT, "80 has no unit; write 80s or 80ms"),
        (Duration("0us", "1s"), "80 has no unit; write 80us or 80ms"),
        (Duration("1ms", "1h"), "80 has no unit; write 80s or 80ms"),
    ],
)
def test_units_are_proposed_that_a_key_is_likely_to_have(form: Quantity, message: str) -> None:
    with pytest.raises(Wrong, match=f"^{message}$"):
        form.parse(80)
