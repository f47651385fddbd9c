"""When to try again."""

import random
import threading
import time
from typing import Callable, Optional, TypeVar

from .errors import Lost, Stopped

T = TypeVar("T")

BASE_DELAY_S = 0.2
MAX_DELAY_S = 10.0


class RetryLater(Exception):
    """An attempt failed in a way that may pass. ``for_s``: for how long that is worth another one."""

    def __init__(
        self,
        message: str,
        after_s: Optional[float] = None,
        for_s: float = float("inf"),
        cause: Optional[Exception] = None,
    ) -> None:
        super().__init__(message)
        self.after_s = after_s
        self.for_s = for_s
        self.cause = cause


def with_retry(
    what: str,
    attempt: Callable[[], T],
    give_up_after_s: float,
    ended: threading.Event,
    speed: float = 1.0,
    progress: Callable[[], object] = lambda: None,
) -> T:
    """Repeats ``attempt`` while it raises :class:`RetryLater`: exponential backoff with full jitter
    (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). Other errors pass through.

    ``speed`` divides the delays. ``progress``: when it tells something new, an attempt got somewhere, and the time
    to give up counts anew: a large file on a bad line may break off a hundred times. Raises :class:`Lost` when
    attempts have failed for ``give_up_after_s``, and :class:`Stopped` when ``ended`` is set meanwhile.
    """
    started = time.monotonic()
    failures = 0
    seen = progress()
    while True:
        if ended.is_set():
            raise Stopped(what)
        try:
            return attempt()
        except RetryLater as error:
            if progress() != seen:
                seen = progress()
                started = time.monotonic()
                failures = 0
            failures += 1
            ceiling = min(MAX_DELAY_S, BASE_DELAY_S * 2 ** min(failures - 1, 20))
            wait_s = error.after_s
            if wait_s is None:
                wait_s = max(BASE_DELAY_S / 2, ceiling * random.random())
            wait_s /= speed
            waited_s = time.monotonic() - started + wait_s
            if waited_s > error.for_s and error.cause is not None:
                raise error.cause
            if waited_s > give_up_after_s:
                raise Lost(
                    "daemon_unreachable",
                    f"{what} failed for {round(give_up_after_s)} s: {error}",
                    hint="Start the control plane again; the work goes on from its last checkpoint.",
                )
            if ended.wait(wait_s):
                raise Stopped(what)
