"""The native plan of a job: what to write, what to run, with the places filled in that only this host knows."""

import os
import re
from pathlib import Path
from typing import Dict, List

from .errors import JobError

PLACE = re.compile(r"\{\{spotter\.(\w+)\}\}")
# Which a container's own environment has and an engine must not: they are the agent's.
OWN_VARIABLES = ("SPOTTER_JOB_TOKEN", "SPOTTER_AGENT_OPTIONS")


def fill(text: str, places: Dict[str, str]) -> str:
    """Replaces ``{{spotter.NAME}}``; an unknown name is an error, not an empty text."""

    def place(match: "re.Match[str]") -> str:
        name = match.group(1)
        if name not in places:
            known = ", ".join(sorted(places))
            raise JobError(
                "invalid_input",
                f"There is no place {{{{spotter.{name}}}}} here; those there are: {known}.",
                hint="Settings of an engine may name these places and no others.",
                where="native",
            )
        return places[name]

    return PLACE.sub(place, text)


def write_files(files: List[Dict], places: Dict[str, str], work_dir: Path) -> None:
    """Writes the engine's own configuration files below the work folder, and nowhere else."""
    for file in files:
        target = (work_dir / file["path"]).resolve()
        if work_dir.resolve() not in target.parents:
            raise JobError("internal", f"The plan writes {file['path']} outside of its folder.", where="native.files")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(fill(file["content"], places))


def engine_environment(env: Dict[str, str], places: Dict[str, str]) -> Dict[str, str]:
    """The container's environment without what is the agent's alone, and what the plan adds."""
    inherited = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
    return {**inherited, **{name: fill(value, places) for name, value in env.items()}}
