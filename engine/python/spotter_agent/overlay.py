"""What a user adds to an image: commands that run once in a container, before the engine starts."""

import subprocess
from pathlib import Path
from typing import Callable, Dict, List

from .errors import JobError

# Cloning and installing on a slow network takes minutes; a command that asks a question waits for ever.
COMMAND_TIMEOUT_S = 1_800.0
TAIL_LINES = 20


def run_overlay(
    commands: List[str],
    env: Dict[str, str],
    cwd: Path,
    log: Callable[[str], None],
    timeout_s: float = COMMAND_TIMEOUT_S,
) -> None:
    """Runs each command in a shell, in order, as a line of a Dockerfile would. The first that fails ends the job."""
    for number, command in enumerate(commands, start=1):
        log(f"image overlay {number} of {len(commands)}: {command}")
        try:
            done = subprocess.run(
                ["/bin/sh", "-ec", command],
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise JobError(
                "invalid_input",
                f"The command of the image overlay took longer than {round(timeout_s)} s: {command}",
                hint="Does it wait for an answer? Add -y, or make it smaller.",
                where=f"imageOverlay[{number - 1}]",
            ) from error
        lines = done.stdout.decode("utf-8", "replace").splitlines()[-TAIL_LINES:]
        for line in lines:
            log(f"  {line}")
        if done.returncode != 0:
            raise JobError(
                "invalid_input",
                f"The command of the image overlay ended with exit code {done.returncode}: {command}",
                hint=lines[-1] if lines else "It wrote nothing.",
                where=f"imageOverlay[{number - 1}]",
            )
