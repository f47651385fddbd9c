"""Weights in another format: a program of the engine's, run as a step of its own.

An attempt begins in an empty folder, which gets its name only when the program has ended well and what it wrote is
whole: nothing of one that was killed half-way is ever used.
"""

import shutil
import time
from pathlib import Path
from typing import Callable, Dict, List, Optional

from .classify import cause_of_end
from .engine_process import EngineProcess
from .errors import JobError, Stopped
from .log import Log

ATTEMPTS = 3
# The same again would end the same.
FINAL = ("invalid_input", "model_not_found", "hub_gated", "disk_full")


class Conversion:
    """``argv`` is made for the folder that an attempt writes into; ``is_whole`` judges that folder.

    It ends when ``is_stopped`` says so: :class:`Stopped` is raised then.
    """

    def __init__(
        self,
        what: str,
        argv: Callable[[Path], List[str]],
        target: Path,
        is_whole: Callable[[Path], bool],
        env: Dict[str, str],
        log: Log,
        is_stopped: Callable[[], bool],
        pause_s: float,
    ) -> None:
        self._what = what
        self._argv = argv
        self._target = target
        self._is_whole = is_whole
        self._env = env
        self._log = log
        self._is_stopped = is_stopped
        self._pause_s = pause_s

    def run(self) -> None:
        """Within another job: tried again here. Raises ``conversion_failed`` when no attempt succeeded."""
        for attempt in range(1, ATTEMPTS + 1):
            self._log.info(f"{self._what}: attempt {attempt} of {ATTEMPTS}")
            cause = self.attempt()
            if cause is None:
                self._log.info(f"{self._what}: done")
                return
            self._log.warn(f"{self._what}: attempt {attempt} failed: {cause.message}")
            if cause.code in FINAL:
                break
            if attempt < ATTEMPTS:
                self._pause(self._pause_s * attempt)
        raise JobError(
            cause.code if cause.code in FINAL else "conversion_failed",
            f"{self._what} failed {attempt} times, last: {cause.message}",
            hint=cause.hint,
        )

    def attempt(self) -> Optional[JobError]:
        """Why it failed; None when the weights are there."""
        partial = self._target.with_name(self._target.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        process = EngineProcess(self._argv(partial), self._env, partial.parent, self._log.info)
        try:
            code = process.poll()
            while code is None:
                self._go_on()
                code = process.wait(0.2)
            process.drain()
        finally:
            process.close()
        if code != 0:
            return cause_of_end(code, process.tail())
        if not self._is_whole(partial):
            return JobError("engine_failed", "It ended well, and its weights are not whole.")
        shutil.rmtree(self._target, ignore_errors=True)
        partial.rename(self._target)
        return None

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._go_on()
            time.sleep(0.1)

    def _go_on(self) -> None:
        if self._is_stopped():
            raise Stopped(self._what)
