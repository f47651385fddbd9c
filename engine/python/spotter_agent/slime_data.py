"""Rows of a dataset as slime reads them, and the run's setup for the plug-in ``spotter_slime``."""

import json
from pathlib import Path
from typing import Any, Dict, List

from .errors import JobError


def write_rows(source: Path, target: Path, kind: str, tools: List[Dict[str, Any]]) -> None:
    """One line a row: the prompt's messages, and under ``metadata`` all that rewards need to know."""
    with open(source, encoding="utf-8") as rows, open(target, "w", encoding="utf-8") as out:
        for number, line in enumerate(rows, start=1):
            if line.strip():
                out.write(json.dumps(slime_row(json.loads(line), kind, tools, number), ensure_ascii=False) + "\n")


def slime_row(row: Dict[str, Any], kind: str, tools: List[Dict[str, Any]], number: int) -> Dict[str, Any]:
    if row.get("chatTemplate") is False:
        raise JobError(
            "dataset_invalid",
            f"Row {number} goes without the chat template, and slime takes one setting for all rows.",
            where=f"dataset row {number}",
        )
    if kind == "sft":
        if "completion" not in row:
            raise JobError("dataset_invalid", f"Row {number} has no completion to learn.", where=f"dataset row {number}")
        return {"messages": [*row["prompt"], {"role": "assistant", "content": row["completion"]}]}
    own = {"row": row["row"], "prompt": row["prompt"], "rewards": row.get("rewards"), "tools": row.get("tools")}
    allowed = row.get("tools")
    told = [tool for tool in tools if allowed is None or tool["function"]["name"] in allowed]
    written: Dict[str, Any] = {"prompt": row["prompt"], "label": "", "metadata": {"spotter": own}}
    if tools:
        written["tools"] = told
    return written


def write_setup(job: Dict[str, Any], work_dir: Path) -> Path:
    """What the plug-in has to know; readable by the container's user alone, for it may hold secrets."""
    spec = job["spec"]
    python = spec.get("python")
    has_rewards = "rewards" in spec or "rewards" in (python or {})
    setup: Dict[str, Any] = {
        "kind": spec["kind"],
        "hasRewards": has_rewards,
        "rollout": spec["rollout"],
        "startedSteps": job["native"].get("startedSteps", 0),
    }
    if python is not None:
        parts = {name: python[name] for name in ("rewards", "tools") if name in python}
        files = [part["file"] for part in parts.values()]
        secrets = (job.get("python") or {}).get("secrets", {})
        setup["python"] = {**parts, "files": files, "folder": str(work_dir / "python"), "secrets": secrets}
    path = work_dir / "slime-setup.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(setup))
    return path


def unpack_python(bundle: Path, folder: Path) -> None:
    """The files of a bundle of user code: a JSON object of their contents by path."""
    files = json.loads(bundle.read_text())["files"]
    for path, content in files.items():
        target = (folder / path).resolve()
        if folder.resolve() not in target.parents:
            raise JobError("user_code_invalid", f"The bundle has a file outside of its folder: {path}", where=path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
