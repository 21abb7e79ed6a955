"""Nobody gets in but who has the address, and nothing changes but from the server's own pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.serve.gate import LONGEST_BODY_BYTES, POLICY, report_key
from analysis.serve.server import PortTakenError, listening
from tests.serve.made_studies import study
from tests.serve.served import TOKEN, Served, served

SECRET = "What of mine?"


@pytest.fixture(name="server")
def a_server(tmp_path: Path) -> Iterator[Served]:
    """Serves one study; whatever would run it leaves a file."""
    study(tmp_path / "results", "mine")
    study(tmp_path / "results", "other")
    leaves = f"open({str(tmp_path / 'has run')!r}, 'w')"
    with served(tmp_path / "results", (sys.executable, "-c", leaves)) as server:
        yield server


def has_run(server: Served) -> bool:
    return (server.site.studies.results.parent / "has run").exists()


def test_who_has_the_address_is_let_in(server: Served) -> None:
    answer = server.get("/")
    assert answer.status == 200
    assert SECRET in answer.text
    assert server.get("/", Host=f"localhost:{server.port}").status == 200


@pytest.mark.parametrize(
    "path",
    ["/", "", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", f"/{TOKEN.upper()}/", f"//{TOKEN}/", "/%00/",
     f"/assets/page.css?token={TOKEN}", "/t%C3%B6ken/", f"/./{TOKEN}/", "/report/",
     "/report/x/mine/"],
)  # fmt: skip
def test_a_wrong_token_gets_nothing(server: Served, path: str) -> None:
    answer = server.ask("GET", path or "/x")
    assert answer.status == 403
    assert SECRET not in answer.text
    assert TOKEN not in answer.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "", "127.0.0.1:1",
     "127.0.0.1:{port}.evil.example"],
)  # fmt: skip
def test_a_foreign_name_that_points_here_gets_nothing(server: Served, host: str) -> None:
    answer = server.get("/", Host=host.format(port=server.port))
    assert answer.status in {400, 403}
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "https://127.0.0.1:{port}", "http://127.0.0.1:1",
               "http://localhost:{port}"],
)  # fmt: skip
def test_another_origin_changes_nothing(server: Served, origin: str) -> None:
    answer = server.post("/study/mine/run", Origin=origin.format(port=server.port))
    assert answer.status == 403
    assert not server.site.runs.is_running("mine")
    assert not has_run(server)


def test_no_origin_changes_nothing(server: Served) -> None:
    answer = server.ask("POST", f"/{TOKEN}/study/mine/run", Content_Length="0")
    assert answer.status == 403
    assert not has_run(server)


def test_a_link_changes_nothing(server: Served) -> None:
    assert server.get("/study/mine/run").status == 405
    assert server.ask("PUT", f"/{TOKEN}/study/mine/run", Origin=server.origin).status == 405
    assert not has_run(server)


def test_our_own_page_may_run_a_study(server: Served) -> None:
    answer = server.post("/study/mine/run")
    assert answer.status == 303
    server.wait_for_run("mine")
    assert has_run(server)


@pytest.mark.parametrize("length", ["", "-1", "x", str(LONGEST_BODY_BYTES + 1)])
def test_a_long_body_is_not_read(server: Served, length: str) -> None:
    answer = server.post("/study/mine/run", Content_Length=length)
    assert answer.status in {400, 413}
    assert not has_run(server)


@pytest.mark.parametrize(
    "path", ["/", "/none", "/study/none/live", "/assets/page.css", "/assets/x"]
)
def test_every_answer_leaves_with_its_headers(server: Served, path: str) -> None:
    for answer in (server.get(path), server.ask("GET", path)):
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
        assert "set-cookie" not in answer.headers
        assert "server" not in answer.headers


def test_scripts_and_styles_come_from_the_server_alone() -> None:
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY
    assert "frame-ancestors 'none'" in POLICY


def test_a_report_has_an_address_that_does_not_tell_the_token(server: Served) -> None:
    path = f"/report/{report_key(TOKEN, 'mine')}/mine/report.html"
    assert path in server.get("/").text
    answer = server.ask("GET", path)
    assert answer.text.endswith("report of mine")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "allow-same-origin" not in policy
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_the_key_of_one_report_opens_no_other_and_no_page(server: Served) -> None:
    key = report_key(TOKEN, "mine")
    for path in (f"/report/{key}/other/report.html", f"/report/{key}/mine/../other/report.html",
                 f"/{key}/", f"/report/{key}/mine%2F..%2Fother/report.html"):  # fmt: skip
        answer = server.ask("GET", path)
        assert answer.status in {403, 404}
        assert "report of other" not in answer.text
    assert server.ask("POST", f"/report/{key}/mine/run", Origin=server.origin,
                      Content_Length="0").status in {404, 405}  # fmt: skip


def test_the_port_is_on_the_loopback_interface_alone() -> None:
    with listening(0) as door:
        assert door.getsockname()[0] == "127.0.0.1"
        taken = door.getsockname()[1]
        with pytest.raises(PortTakenError, match=f"port {taken} of 127.0.0.1 cannot be had"):
            listening(taken)
