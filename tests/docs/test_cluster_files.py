"""The image and the job for Kubernetes: they name the versions, options and ports that are there."""

from __future__ import annotations

import re
from pathlib import Path

import typer
import yaml

from analysis.cli.app import app
from analysis.cli.options import spark_master
from analysis.pipeline.object_store import is_address
from analysis.study.load import load_study
from analysis.study.shipped import located

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "docs" / "cluster"


def test_the_image_has_the_versions_that_are_required() -> None:
    image = (CLUSTER / "Dockerfile").read_text()
    required = (ROOT / "requirements.txt").read_text()
    spark = re.search(r"^pyspark==(.*)$", required, re.MULTILINE)
    assert spark is not None
    assert f"FROM apache/spark:{spark[1]} AS spark" in image
    copied = re.findall(r"^COPY (?!--)(\S+)", image, re.MULTILINE)
    assert copied == ["requirements.lock", "."]
    assert all((ROOT / name).exists() for name in copied)


def test_the_job_runs_a_command_that_there_is() -> None:
    service, job = yaml.safe_load_all((CLUSTER / "driver.yaml").read_text())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    program, name, file, *options = container["command"]
    said = dict(zip(options[::2], options[1::2], strict=True))
    known = typer.main.get_command(app).commands[name].params  # type: ignore[attr-defined]
    assert program == "pessim"
    assert set(said) <= {option for param in known for option in param.opts}
    assert spark_master(said["--master"]) == said["--master"]
    assert is_address(said["--out"])
    assert load_study(located(file)).name == "rfc77_map"
    (submitted,) = [each["value"] for each in container["env"] if "value" in each]
    settings = dict(re.findall(r"--conf (\S+?)=(\S+)", submitted))
    assert settings["spark.kubernetes.container.image"] == container["image"]
    assert settings["spark.driver.host"] == service["metadata"]["name"]
    ports = {settings["spark.driver.port"], settings["spark.driver.blockManager.port"]}
    assert ports == {str(each["port"]) for each in service["spec"]["ports"]}
    labels = job["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
