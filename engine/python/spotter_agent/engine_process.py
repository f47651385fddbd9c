"""The engine: a process group of its own, whose lines are read and which never outlives the agent."""

import collections
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Callable, Deque, Dict, List, Optional

from .errors import JobError

KILL_AFTER_S = 5.0
KEPT_LINES = 200
# Of a longer line the rest is passed over: an engine that prints its weights must not stop the log.
MAX_LINE_BYTES = 65_536
PASSED_OVER = " [the rest of the line is left out]"
# What is kept of each of the last lines.
MAX_KEPT_CHARACTERS = 2_000
# Holds the other end of a pipe of the agent: when that one is gone, however it went, the engine's group goes too.
GUARD = """
import contextlib, os, sys
if sys.stdin.buffer.read() == b"":
    with contextlib.suppress(OSError):
        os.killpg(int(sys.argv[1]), 9)
"""
DISARMED = b"-"


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
        self._guard = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", GUARD, str(self._process.pid)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
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
        """Asks the engine to end. Its helpers are its own to end: without them it could not save any more."""
        try:
            self._process.terminate()
        except ProcessLookupError:
            pass

    def close(self, grace_s: float = 0.0) -> Optional[int]:
        """Ends what is left of the group: asked first where there is time, by force after it."""
        if grace_s > 0 and self.poll() is None:
            self.terminate()
            self.wait(grace_s)
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self._disarm()
        code = self.wait(KILL_AFTER_S)
        # What it wrote last is worth more than the rest; a grandchild may hold the pipe open for ever.
        self._reader.join(timeout=2.0)
        return code

    def drain(self, timeout_s: float = 2.0) -> None:
        """Waits until the last lines of an ended engine were read."""
        self._reader.join(timeout=timeout_s)

    def _disarm(self) -> None:
        """The group is gone: its number may soon be another's."""
        stdin = self._guard.stdin
        if stdin is None or stdin.closed:
            return
        try:
            stdin.write(DISARMED)
            stdin.close()
        except OSError:
            pass
        self._guard.wait()

    def _read(self) -> None:
        stream = self._process.stdout
        if stream is None:
            return
        pending = b""
        is_cut = False
        while True:
            chunk = stream.read1(65536)
            if not chunk:
                break
            # Progress bars redraw their line with \r: each state of them is a line here.
            *lines, rest = chunk.replace(b"\r", b"\n").split(b"\n")
            for raw in lines:
                if not is_cut:
                    self._tell(pending + raw)
                pending, is_cut = b"", False
            if not is_cut:
                pending += rest
            if len(pending) > MAX_LINE_BYTES:
                self._tell(pending)
                pending, is_cut = b"", True
        if pending:
            self._tell(pending)

    def _tell(self, raw: bytes) -> None:
        text = raw[:MAX_LINE_BYTES].decode("utf-8", "replace").rstrip()
        if not text:
            return
        if len(raw) > MAX_LINE_BYTES:
            text += PASSED_OVER
        self._tail.append(text[:MAX_KEPT_CHARACTERS])
        try:
            self._line(text)
        except Exception as error:  # whatever a line does to its reader, the next one must be read: the engine waits
            sys.stderr.write(f"a line of the engine was not understood: {type(error).__name__}: {error}\n")
