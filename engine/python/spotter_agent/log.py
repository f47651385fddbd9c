"""What the container and its engine print: shipped as it comes, its last lines kept for a failure's record."""

import collections
import json
import sys
import threading
import time
from typing import Callable, Deque, Dict, List, Optional

# Lines kept for a failure's record, and how much of each: the record must stay small.
KEPT_LINES = 200
KEPT_CHARACTERS = 500
# A line longer than this is cut: an engine that prints tensors must not stop the log.
MAX_CHARACTERS = 8_000


class Log:
    """Thread-safe. ``ship`` takes (level, message); None until there is somebody to tell."""

    def __init__(self, redact: Callable[[str], str] = lambda text: text) -> None:
        self._lines: Deque[str] = collections.deque(maxlen=KEPT_LINES)
        self._lock = threading.Lock()
        self._redact = redact
        self.ship: Optional[Callable[[str, str], None]] = None

    def redact_with(self, redact: Callable[[str], str]) -> None:
        """From now on; nothing secret is known before the job is."""
        self._redact = redact

    def info(self, message: str) -> None:
        self._write("info", message)

    def warn(self, message: str) -> None:
        self._write("warn", message)

    def error(self, message: str) -> None:
        self._write("error", message)

    def tail(self) -> List[str]:
        with self._lock:
            return list(self._lines)

    def hide(self, text: str) -> str:
        """Without the values of secrets."""
        return self._redact(text)

    def _write(self, level: str, message: str) -> None:
        # In this order: the half of a secret is no value that could be found.
        text = self._redact(message.replace("\x00", ""))[:MAX_CHARACTERS]
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self._lock:
            self._lines.append(f"{level} {text}"[:KEPT_CHARACTERS])
            sys.stderr.write(json.dumps({"ts": stamp, "level": level, "msg": text}) + "\n")
            sys.stderr.flush()
        if self.ship is not None:
            self.ship(level, text)


def redactor(secrets: List[str]) -> Callable[[str], str]:
    """Replaces the values of secrets. Short ones are left: they would tear ordinary words apart."""
    values = sorted({value for value in secrets if len(value) >= 6}, key=len, reverse=True)

    def redact(text: str) -> str:
        for value in values:
            text = text.replace(value, "[secret]")
        return text

    return redact


def secrets_of(job: Dict, token: str) -> List[str]:
    """What a job was given and nobody may read in its log."""
    values = [token, job.get("accessKey", "")]
    values.extend((job.get("python") or {}).get("secrets", {}).values())
    values.extend(job.get("secrets", {}).values())
    return values
