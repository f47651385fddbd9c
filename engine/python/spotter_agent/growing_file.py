"""A file that another process writes: what it has grown by since the last look."""

import os
import stat
from pathlib import Path
from typing import Callable, Iterator, List, Optional, Tuple

from .metric_number import Number, Taken

CHUNK_BYTES = 4 * 1024 * 1024
# Whoever looks has more to do than to read; what a file has beyond that comes with the next looks.
MAX_LOOK_BYTES = 4 * CHUNK_BYTES

Take = Callable[[bytes, bool], Taken]


class GrowingFile:
    """``reader`` makes what takes the bytes, anew for a file that was replaced by another of its name."""

    def __init__(self, path: Path, reader: Callable[[], Take], passes_over: int = 0) -> None:
        self.path = path
        self._reader = reader
        self._take = reader()
        self._at = passes_over
        # Bytes of a record that is passed over, as far as they are not there yet.
        self._left_out = 0
        self._identity: Optional[Tuple[int, int]] = None

    def look(self, is_over: bool) -> Iterator[Tuple[List[Number], Optional[str]]]:
        """Numbers, and what is wrong, a part at a time; OSError where the file cannot be read."""
        # A pipe of that name would keep the agent waiting.
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            seen = os.fstat(descriptor)
            if not stat.S_ISREG(seen.st_mode):
                return
            self._begin_again_if_replaced(seen)
            end = seen.st_size if is_over else min(seen.st_size, self._at + self._left_out + MAX_LOOK_BYTES)
            while self._at < end:
                file.seek(self._at)
                data = file.read(min(CHUNK_BYTES, end - self._at))
                passed = min(self._left_out, len(data))
                self._left_out -= passed
                self._at += passed
                if passed > 0:
                    continue
                is_last = is_over and self._at + len(data) >= seen.st_size
                used, numbers, fault = self._take(data, is_last)
                self._left_out = max(0, used - len(data))
                self._at += min(used, len(data))
                yield numbers, fault
                if used == 0:
                    return

    def _begin_again_if_replaced(self, seen: os.stat_result) -> None:
        identity = (seen.st_dev, seen.st_ino)
        if seen.st_size < self._at or self._identity not in (None, identity):
            self._at = self._left_out = 0
            self._take = self._reader()
        self._identity = identity
