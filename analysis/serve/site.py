"""The server's pages, by address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from os.path import lexists
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from analysis.comparison.results import SUMMED_UP, StudyResults, read_results
from analysis.page.charts import chart_looks
from analysis.page.escaping import in_script
from analysis.page.formats import environment
from analysis.page.study_page import HTML
from analysis.program import SCENARIOS, command
from analysis.serve.compare import MEDIA_TYPES, MOST_STUDIES, chart_data, comparison, shipped
from analysis.serve.controls import LOADS, LOCK_MODES, ControlError, NoBaseError, settings, turned
from analysis.serve.explorer import Explorer
from analysis.serve.gate import REPORT_POLICY, Gate, report_key
from analysis.serve.progress import ProgressReader
from analysis.serve.runs import StudyRuns
from analysis.serve.studies import PAGE_STUDIES, Head, NoStudyError, Studies
from analysis.serve.time_travel import course, units_of
from analysis.serve.units_here import BusyError, UnitsHere
from analysis.study.study_folder import StudyFolderError
from sim.units import MIB

_LONGEST_REPORT_BYTES: Final = 64 * MIB
_FIRST_BASE: Final = "scenario:quickstart"


class Site:
    """All pages, on the studies of one folder."""

    def __init__(self, results: Path, token: str, port: int, program: Sequence[str]) -> None:
        """Takes the folder of studies, what the address has, and the words that start Pessim."""
        self.studies = Studies(results)
        self.runs = StudyRuns(self.studies, program)
        self._token = token
        self.units = UnitsHere(self.studies)
        self._progress_reader = ProgressReader(self.studies)
        self.explorer = Explorer(self.studies, SCENARIOS, self.units)
        routes = [
            Route("/", self._index),
            Route("/study/{study}/run", self._run, methods=["POST"]),
            Route("/study/{study}/stop", self._stop, methods=["POST"]),
            Route("/study/{study}/live", self._live),
            Route("/compare", self._compare),
            Route("/study/{study}/time", self._time),
            Route("/api/time/{study}/{unit}", self._course),
            Route("/api/live/{study}", self._progress),
            Route("/report/{key}/{study}/report.html", self._report),
            Route("/explore", self._explore),
            Route("/api/answer", self._answer),
            Route("/api/scenario", self._scenario),
            Route("/api/simulate", self._simulate, methods=["POST"]),
            Route("/api/simulate", self._simulating),
            Route("/api/simulate/stop", self._stop_unit, methods=["POST"]),
            Route("/assets/{name:path}", _asset_response),
        ]
        refusals = (NoStudyError, NoBaseError, ControlError, BusyError)
        refused: Any = dict.fromkeys(refusals, self._refused)
        guarded = Starlette(routes=routes, exception_handlers=refused)
        self.app = Gate(guarded, token, port)

    def _explore(self, request: Request) -> Response:
        said = request.query_params
        name = said.get("base", _FIRST_BASE)
        problem, about = "", ""
        data: dict[str, Any] = {"base": name, "controls": []}
        try:
            base = self.explorer.base(name)
            values = turned(said, base)
            about = base.study.about
            own = "threads" if base.scenario.workload.threads is not None else "rate"
            data |= {
                "looks": chart_looks(list(LOCK_MODES)),
                "controls": settings(base, values),
                "own": own,
                "load": next((load for load in LOADS if load in values), own),
                "over": said.get("over", ""),
                "of": said.get("of", ""),
            }
        except (NoBaseError, ControlError) as error:
            problem = str(error)
        heads, _ = self.studies.page("", 0)
        return self._page(
            "explore.html.j2",
            here="explore",
            base=name,
            about=about,
            problem=problem,
            scenarios=self.explorer.scenarios(),
            studies=[head.name for head in heads],
            data=Markup(in_script(data)),
        )

    def _answer(self, request: Request) -> Response:
        base = self.explorer.base(request.query_params.get("base", ""))
        return JSONResponse(self.explorer.answer(base, turned(request.query_params, base)))

    def _scenario(self, request: Request) -> Response:
        try:
            base = self.explorer.base(request.query_params.get("base", ""))
            text = self.explorer.text(base, turned(request.query_params, base))
        except (NoBaseError, ControlError) as error:
            return PlainTextResponse(f"# {error}\n", 400)
        return PlainTextResponse(text)

    def _simulate(self, request: Request) -> Response:
        said = request.query_params
        base = self.explorer.base(said.get("base", ""))
        self.explorer.simulate(base, turned(said, base), said.get("mode", ""))
        return JSONResponse(self.units.state(), 202)

    def _simulating(self, _: Request) -> Response:
        return JSONResponse(self.units.state())

    def _stop_unit(self, _: Request) -> Response:
        self.units.stop()
        return JSONResponse(self.units.state())

    def _index(self, request: Request) -> Response:
        search = request.query_params.get("q", "")[:200]
        first = _whole(request.query_params.get("from", ""))
        heads, more = self.studies.page(search, first)
        links = {"q": search} if search else {}
        return self._page(
            "index.html.j2",
            here="studies",
            rows=[self._row(head) for head in heads],
            search=search,
            first=first,
            later=urlencode(links | {"from": first + PAGE_STUDIES}) if more else "",
            sooner=urlencode(links | {"from": max(0, first - PAGE_STUDIES)}) if first else "",
            newest=urlencode(links),
            folder=str(self.studies.results),
            example=command("run", "pessim:quickstart"),
        )

    def _row(self, head: Head) -> Mapping[str, Any]:
        running = self.runs.is_running(head.name)
        there = (self.studies.results / head.name / HTML).is_file()
        written = datetime.fromtimestamp(head.written_s, UTC).astimezone()
        place, key = quote(head.name, safe=""), report_key(self._token, head.name)
        return {
            "head": head,
            "place": place,
            "outcome": "running" if running else head.outcome,
            "says": "running" if running else head.outcome.replace("unfinished", "not finished"),
            "date": written.strftime("%Y-%m-%d %H:%M"),
            "iso": written.isoformat(timespec="minutes"),
            "report": f"/report/{key}/{place}/{HTML}" if there else "",
        }

    def _report(self, request: Request) -> Response:
        content = self.studies.read(request.path_params["study"], HTML, _LONGEST_REPORT_BYTES)
        headers = {"content-security-policy": REPORT_POLICY, "referrer-policy": "no-referrer"}
        return HTMLResponse(content, headers=headers)

    def _time(self, request: Request) -> Response:
        head = self.studies.head(request.path_params["study"])
        units = units_of(self.studies, head.name)
        place = quote(head.name, safe="")
        return self._page("time.html.j2", here="", head=head, place=place, units=units)

    def _course(self, request: Request) -> Response:
        asked = request.path_params
        return JSONResponse(course(self.studies, asked["study"], asked["unit"]))

    def _compare(self, request: Request) -> Response:
        names = list(dict.fromkeys(request.query_params.getlist("study")))
        problem, found = "", None
        if not 2 <= len(names) <= MOST_STUDIES:
            problem = f"Choose two to {MOST_STUDIES} studies."
        else:
            try:
                found = comparison(
                    [(name, self._results(name)) for name in names], self.studies.file
                )
            except StudyFolderError as error:
                problem = str(error)
        folders = [str(self.studies.results / name) for name in names[:2]]
        return self._page(
            "compare.html.j2",
            here="",
            problem=problem,
            found=found,
            data="" if found is None else chart_data(found),
            command=command("diff", *folders, "--html", "comparison.html"),
        )

    def _results(self, study: str) -> StudyResults:
        folder = self.studies.folder(study)
        for name in SUMMED_UP:
            if not lexists(folder / name):
                raise StudyFolderError(
                    f"{study} has not ended: it has no {name} yet. Continue it, then compare."
                )
            self.studies.file(study, name)
        return read_results(folder)

    def _run(self, request: Request) -> Response:
        study = request.path_params["study"]
        self.runs.start(study)
        return self._to_live(study)

    def _stop(self, request: Request) -> Response:
        study = request.path_params["study"]
        self.runs.stop(study)
        return self._to_live(study)

    def _to_live(self, study: str) -> Response:
        return RedirectResponse(f"/{self._token}/study/{quote(study, safe='')}/live", 303)

    def _live(self, request: Request) -> Response:
        head = self.studies.head(request.path_params["study"])
        row = self._row(head)
        there = {name: row[name] for name in ("place", "report")}
        return self._page("live.html.j2", here="", head=head, **there)

    def _progress(self, request: Request) -> Response:
        study = request.path_params["study"]
        found = self._progress_reader.progress(study)
        starting = self.runs.is_running(study) and not found["running"]
        return JSONResponse(found | {"starting": starting, "said": self.runs.said(study)})

    def _page(self, template: str, status: int = 200, **said: Any) -> Response:
        text = environment(__package__).get_template(template).render(
            root=f"/{self._token}", **said
        )  # fmt: skip
        return HTMLResponse(text, status)

    async def _refused(self, request: Request, error: Exception) -> Response:
        """Says what is not there or cannot be: to a script as JSON, to a reader as a page."""
        if request.url.path.startswith(f"/{self._token}/api/"):
            return JSONResponse({"problem": str(error)}, 400)
        return self._page("missing.html.j2", 404, here="", message=str(error))


def _asset_response(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in MEDIA_TYPES:
        return PlainTextResponse("There is no such file.\n", 404)
    return Response(shipped(name), media_type=MEDIA_TYPES[name])


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
