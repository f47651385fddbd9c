"""The engine: a process group of its own, whose lines are read and which never outlives the agent."""

import collections
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Callable, Deque, Dict, List, Optional

from .errors import JobError

KILL_AFTER_S = 5.0
KEPT_LINES = 200


class EngineProcess:
    """Starts ``argv`` in a session of its own: Ray and torchrun start dozens of processes, and all of them end
    with this one. ``line`` is called for each line of stdout and stderr, from another thread.
    """

    def __init__(
        self,
        argv: List[str],
        env: Dict[str, str],
        cwd: Path,
        line: Callable[[str], None],
    ) -> None:
        try:
            self._process = subprocess.Popen(
                argv,
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise JobError(
                "engine_failed",
                f"{argv[0]} could not be started: {error}",
                hint="Is the image the one of this engine?",
                where="native.argv",
            ) from error
        self._line = line
        self._tail: Deque[str] = collections.deque(maxlen=KEPT_LINES)
        self._reader = threading.Thread(target=self._read, name="engine-log", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def tail(self) -> List[str]:
        """Its last lines, and nothing that the agent said."""
        return list(self._tail)

    def poll(self) -> Optional[int]:
        """The exit code once it has ended; negative: the signal that ended it."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> Optional[int]:
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def terminate(self) -> None:
        """Asks the whole group to end."""
        self._signal(signal.SIGTERM)

    def close(self, grace_s: float = 0.0) -> Optional[int]:
        """Ends what is left of the group: asked first where there is time, by force after it."""
        if grace_s > 0 and self.poll() is None:
            self.terminate()
            self.wait(grace_s)
        self._signal(signal.SIGKILL)
        code = self.wait(KILL_AFTER_S)
        # What it wrote last is worth more than the rest; a grandchild may hold the pipe open for ever.
        self._reader.join(timeout=2.0)
        return code

    def drain(self, timeout_s: float = 2.0) -> None:
        """Waits until the last lines of an ended engine were read."""
        self._reader.join(timeout=timeout_s)

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _read(self) -> None:
        stream = self._process.stdout
        if stream is None:
            return
        pending = b""
        while True:
            chunk = stream.read1(65536)
            if not chunk:
                break
            # Progress bars redraw their line with \r: each state of them is a line here.
            *lines, pending = (pending + chunk).replace(b"\r", b"\n").split(b"\n")
            for raw in lines:
                self._tell(raw)
            if len(pending) > 65536:
                self._tell(pending)
                pending = b""
        if pending:
            self._tell(pending)

    def _tell(self, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace").rstrip()
        if text:
            self._tail.append(text)
            self._line(text)


def wait_until(reached: Callable[[], bool], timeout_s: float, every_s: float = 0.05) -> bool:
    """Looks again and again; whether it came to be in time."""
    until = time.monotonic() + timeout_s
    while not reached():
        if time.monotonic() >= until:
            return False
        time.sleep(every_s)
    return True
