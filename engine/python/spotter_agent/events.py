"""What the container reports: in order, in batches, each event with a number of its own."""

import json
import threading
import time
from typing import Any, Callable, List, Optional, Tuple

from .errors import JobError, Stopped

LINGER_S = 0.1
MAX_BATCH = 200
# A batch is stored as one item, which holds 350 kB.
MAX_BATCH_BYTES = 256 * 1024
MAX_STALLED_ANSWERS = 5
# Waiting for a control plane that is away must not fill the memory; the newest logs are dropped, nothing else.
MAX_WAITING_LOGS = 20_000


class EventQueue:
    """Delivers events exactly once: resending a batch after a lost answer is harmless.

    ``send`` gets a batch and returns the number up to which everything is stored; it retries by itself.
    ``failed`` is told when nothing more will be delivered.
    """

    def __init__(
        self,
        send: Callable[[List[dict]], int],
        ended: threading.Event,
        failed: Callable[[Exception], None],
    ) -> None:
        self._send = send
        self._ended = ended
        self._failed = failed
        self._waiting: List[Tuple[int, Any, int]] = []
        self._seq = 0
        self._logs = 0
        self._dropped = 0
        self._changed = threading.Condition()
        self._error: Optional[Exception] = None
        self._hurry = False
        self._closed = False
        self._thread = threading.Thread(target=self._pump, name="events", daemon=True)
        self._thread.start()

    def push(self, body: dict) -> None:
        with self._changed:
            if self._error is not None or self._closed:
                return
            if body.get("type") == "log":
                if self._logs >= MAX_WAITING_LOGS:
                    self._dropped += 1
                    return
                self._logs += 1
            self._append(body)
            self._changed.notify_all()

    def _append(self, body: dict) -> None:
        self._seq += 1
        size = len(json.dumps(body).encode())
        self._waiting.append((self._seq, body, size))

    def flush(self, timeout_s: Optional[float] = None) -> None:
        """Returns when everything pushed so far is stored; raises what keeps it from being."""
        until = None if timeout_s is None else time.monotonic() + timeout_s
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            while self._waiting and self._error is None:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise JobError("timeout", "The last events could not be delivered in time.")
                self._changed.wait(left)
            self._hurry = False
            if self._error is not None:
                raise self._error

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _pump(self) -> None:
        stalled = 0
        try:
            while True:
                batch = self._next_batch()
                if batch is None:
                    return
                stored = self._send([{"seq": seq, "body": body} for seq, body, _ in batch])
                stalled = 0 if self._acknowledge(stored) else stalled + 1
                if stalled >= MAX_STALLED_ANSWERS:
                    raise JobError("internal", f"Events from {batch[0][0]} on are not acknowledged.")
        except Exception as error:  # told to who waits, and to the owner
            with self._changed:
                self._error = error
                self._changed.notify_all()
            if not isinstance(error, Stopped):
                self._failed(error)

    def _next_batch(self) -> Optional[List[Tuple[int, Any, int]]]:
        with self._changed:
            while not self._waiting:
                if self._closed or self._ended.is_set():
                    return None
                self._changed.wait(0.5)
            if not self._hurry and not self._closed:
                self._changed.wait_for(lambda: self._hurry or self._closed, LINGER_S)
            size = 0
            batch = []
            for event in self._waiting[:MAX_BATCH]:
                size += event[2]
                if batch and size > MAX_BATCH_BYTES:
                    break
                batch.append(event)
            return batch

    def _acknowledge(self, stored: int) -> bool:
        with self._changed:
            kept = [event for event in self._waiting if event[0] > stored]
            is_news = len(kept) < len(self._waiting)
            gone = self._waiting[: len(self._waiting) - len(kept)]
            self._waiting = kept
            self._logs -= sum(1 for _, body, _ in gone if body.get("type") == "log")
            if self._dropped and is_news:
                message = f"{self._dropped} lines of the log were dropped while the control plane was away"
                self._dropped = 0
                self._logs += 1
                self._append({"type": "log", "level": "warn", "message": message})
            self._changed.notify_all()
            return is_news
