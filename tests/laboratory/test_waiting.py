"""What becomes of orders that take too long, are refused, or are lost on the way."""

from __future__ import annotations

import pytest

from sim.laboratory.script import run_text

SCENES = {
    "within counts from the order when it is put aside": """
cluster stores=3 ticks=fast
isolate 3
transfer-leader 1 3 within=1s as t
advance 2s
requests
wait t
time
----
t: no answer within 1s; region 1 leader 1 term 6; store 1 cannot reach store 3
t: no answer within 1s; region 1 leader 1 term 6; store 1 cannot reach store 3
2s
""",
    "wait goes by it, too": """
cluster stores=3 ticks=fast
isolate 3
transfer-leader 1 3 within=1s as t
wait t
time
----
t: no answer within 1s; region 1 leader 1 term 6; store 1 cannot reach store 3
1s
""",
    "unless it is given another time": """
cluster stores=3 ticks=fast
isolate 3
transfer-leader 1 3 within=1s as t
wait t within=3s
time
----
t: no answer within 3s; region 1 leader 1 term 6; store 1 cannot reach store 3
3s
""",
    "quiet gives up what can no longer happen": """
cluster stores=3 ticks=fast
isolate 3
transfer-leader 1 3 as t
advance 10ms
heal
advance until quiet
requests
----
t: came to nothing; region 1 leader 1 term 6
none
""",
    "quiet waits for what is held up": """
cluster stores=3 ticks=fast
hold before_transfer_ack
transfer-leader 1 3 as t
advance until quiet within=5s
release before_transfer_ack
advance until quiet
wait t
----
not within 5s
t: region 1 leader 3 term 7
""",
    "nobody leads": """
cluster stores=3 split=m ticks=fast
crash 1
crash 2
merge-region 1 into 2 within=1s
----
no answer within 1s
""",
    "sizes are bytes": """
cluster stores=1 pessimistic-txn.in-memory-peer-size-limit=150
lock 10 k1
lock 20 k2
set-config pessimistic-txn.in-memory-peer-size-limit=300
lock 30 k3
----
locked k1 in-memory
locked k2 fallback (full)
locked k3 in-memory
""",
    "what never was is none": """
cluster stores=1
marks transfer
marks readindex
counters region_errors
counters flow_control
----
none
none
all zero
all zero
""",
}


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_prints_what_it_says(name: str) -> None:
    result = run_text(SCENES[name].strip() + "\n", name)
    assert (result.problem, "\n".join(result.differences)) == ("", "")
