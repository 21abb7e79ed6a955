"""Builds the package: everything lies beneath ``pessim``, and import statements say so.

The sources are packages ``sim`` and ``analysis`` at the top level of the checkout. Installed they
are ``pessim.sim`` and ``pessim.analysis``, so that they meet no folder of a user's. All else that
there is to say about the package is in ``pyproject.toml``.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

MOVED = ("sim", "analysis")


def moved(source: str) -> str:
    """Returns a module's text with its imports of what has moved beneath ``pessim``.

    Raises:
        ValueError: at ``import sim.x``, which binds a name that would be another one.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(_is_moved(each.name) for each in node.names):
            raise ValueError(f"line {node.lineno}: write from … import …, which can be moved")
        if isinstance(node, ast.ImportFrom) and not node.level and _is_moved(node.module or ""):
            begin = node.col_offset + len("from ")
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = f"{line[:begin]}pessim.{line[begin:]}"
    return "".join(lines)


def _is_moved(module: str) -> bool:
    return module.partition(".")[0] in MOVED


def commit() -> str:
    """Returns the commit that is built, with ``+`` if it was changed since; empty if unknown."""
    command = ["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout


class BuildMoved(build_py):
    """Copies what is to be installed, as it is to be there."""

    def run(self) -> None:
        """Rewrites the imports of what has been copied; notes the commit."""
        target = Path(self.build_lib) / "pessim"
        shutil.rmtree(target, ignore_errors=True)  # an earlier build's, with files since removed
        super().run()
        for path in sorted([*target.rglob("*.py"), *target.rglob("*.pyi")]):
            text = path.read_text(encoding="utf-8")
            path.write_text(moved(text), encoding="utf-8")
        (target / "COMMIT").write_text(commit(), encoding="utf-8")


if __name__ == "__main__":
    code = find_packages(include=[f"{name}*" for name in MOVED])
    data = ["scenarios", "scenarios.cookbook", "scenarios.profiles", "scenarios.validation", "docs"]
    setup(
        packages=["pessim", *(f"pessim.{name}" for name in (*code, *data))],
        package_dir={f"pessim.{name}": name for name in (*MOVED, "scenarios", "docs")},
        package_data={
            "": ["*.pyi", "*.properties", "*.csv", "*.yaml", "assets/**", "templates/**"],
            "pessim.docs": ["MODEL.md", "VALIDATION.md"],
            **{f"pessim.{name}": ["*.yaml"] for name in data[:-1]},
        },
        cmdclass={"build_py": BuildMoved},
    )
