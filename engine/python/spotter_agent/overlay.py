"""What a user adds to an image: commands that run before the engine starts, once for an image.

In Docker the image is made by the control plane (functions/local/docker-containers/overlay-image.ts) and says so in
its environment. Elsewhere the commands run here, and a mark on this machine says which ones came last.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Callable, Dict, List, Optional

from .engine_process import EngineProcess
from .errors import JobError

# Cloning and installing on a slow network takes minutes; a command that asks a question waits for ever.
COMMAND_TIMEOUT_S = 1_800.0
APPLIED = "SPOTTER_IMAGE_OVERLAY"


def overlay_hash(commands: List[str]) -> str:
    """Names a list of commands; the control plane computes the same."""
    return hashlib.sha256("\0".join(commands).encode()).hexdigest()


def run_overlay(
    commands: List[str],
    env: Dict[str, str],
    cwd: Path,
    log: Callable[[str], None],
    marks_dir: str = "",
    timeout_s: float = COMMAND_TIMEOUT_S,
) -> None:
    """Runs each command in a shell, in order, as a line of a Dockerfile would. The first that fails ends the job."""
    if not commands:
        return
    wanted = overlay_hash(commands)
    if env.get(APPLIED) == wanted:
        log("image overlay: this image was made with it")
        return
    mark = mark_of(env, marks_dir, log)
    if mark is not None and last_applied(mark) == wanted:
        log(f"image overlay: applied before, as {mark} says")
        return
    if mark is not None:
        # Whatever comes next, what was there before is not all there is any more.
        mark.unlink(missing_ok=True)
    for number, command in enumerate(commands):
        log(f"image overlay {number + 1} of {len(commands)}: {command}")
        run_command(number, command, env, cwd, log, timeout_s)
    if mark is not None:
        mark.write_text(json.dumps({"overlay": wanted, "commands": commands}))


def run_command(
    number: int, command: str, env: Dict[str, str], cwd: Path, log: Callable[[str], None], timeout_s: float
) -> None:
    """All that a command starts ends with it, as it would in a Dockerfile: nothing of it is left beside the engine."""
    process = EngineProcess(["/bin/sh", "-ec", command], env, cwd, lambda line: log(f"  {line}"))
    code = process.wait(timeout_s)
    process.close()
    if code is None:
        raise JobError(
            "invalid_input",
            f"The command of the image overlay took longer than {round(timeout_s)} s: {command}",
            hint="Does it wait for an answer? Add -y, or make it smaller.",
            where=f"imageOverlay[{number}]",
        )
    if code != 0:
        raise JobError(
            "invalid_input",
            f"The command of the image overlay ended with exit code {code}: {command}",
            hint=(process.tail() or ["It wrote nothing."])[-1],
            where=f"imageOverlay[{number}]",
        )


def mark_of(env: Dict[str, str], marks_dir: str, log: Callable[[str], None]) -> Optional[Path]:
    """Where it is written down which commands came last, for one Python; None where nothing can be.

    It must go with what the commands change: a state folder may outlive an image, and a name of a Python another
    environment of that name. So it lies in a folder of the machine itself, under what the file system says of that
    Python.
    """
    python = shutil.which(env.get("SPOTTER_ENGINE_PYTHON", "python3"), path=env.get("PATH"))
    if python is None:
        return None
    folder = Path(marks_dir or f"/var/tmp/spotter-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What anybody could have written says nothing.
        if folder.stat().st_uid != os.getuid():
            raise PermissionError(f"{folder} belongs to somebody else")
        seen = os.lstat(python)
        name = hashlib.sha256(f"{python} {seen.st_ino} {seen.st_ctime_ns}".encode()).hexdigest()[:16]
        return folder / f"overlay-{name}.json"
    except OSError as error:
        log(f"image overlay: nothing can be remembered, it runs in each container ({error})")
        return None


def last_applied(mark: Path) -> Optional[str]:
    try:
        found = json.loads(mark.read_text())
        return found["overlay"] if isinstance(found, dict) and "overlay" in found else None
    except (OSError, ValueError):
        return None
