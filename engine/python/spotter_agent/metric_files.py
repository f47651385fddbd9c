"""Follows the metric files of a folder while the engine writes them. Whatever is wrong with one is said once."""

import json
import os
import stat
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from .event_file import EventFile
from .growing_file import GrowingFile, Take
from .metric_lines import MetricLines
from .metric_number import Number

MAX_FILES = 200
# Folders within each other; Python's walk gives up on a thousand.
MAX_DEPTH = 32
# Names that user code makes up must not fill the memory.
MAX_TAGS = 1_000
MAX_TAG_CHARACTERS = 256
# Of all names together: a step's figures are stored with its checkpoint, in one item.
MAX_TAGS_BYTES = 64 * 1024


def event_reader() -> Take:
    return EventFile().take


def line_reader() -> Take:
    return MetricLines().take


def reader_of(name: str) -> Optional[Callable[[], Take]]:
    """By a file's name; None for one that is no metric file."""
    if "tfevents" in name:
        return event_reader
    return line_reader if name.endswith(".jsonl") else None


class MetricFiles:
    """What the files hold when it is made is of somebody before, and is passed over."""

    def __init__(self, folders: Iterable[Path], warn: Callable[[str], None]) -> None:
        self._folders = list(dict.fromkeys(folders))
        self._warn = warn
        self._said: Set[Tuple[str, str]] = set()
        self._tags: Set[str] = set()
        self._tags_bytes = 0
        self._files: Dict[Path, GrowingFile] = {}
        for path, size in self._found():
            self._follow(path, size)

    def look(self, is_over: bool = False) -> Iterator[Tuple[Path, List[Number]]]:
        """What came since the last look, file by file and part by part. ``is_over``: nobody writes any more."""
        for path, _ in self._found():
            if path not in self._files:
                self._follow(path, 0)
        for path, file in list(self._files.items()):
            try:
                for more, fault in file.look(is_over):
                    numbers = [number for number in more if self._is_taken(number)]
                    if fault is not None:
                        self._say(path, fault)
                    if numbers:
                        yield path, numbers
            except FileNotFoundError:
                # Whoever writes a file for each step and removes it must not use up the room of others.
                del self._files[path]
            except OSError as error:
                self._say(path, f"it cannot be read ({error.strerror})")

    def _found(self) -> List[Tuple[Path, int]]:
        found = []
        for folder in self._folders:
            depth = str(folder).count(os.sep) + MAX_DEPTH
            for place, folders, names in os.walk(folder):
                if place.count(os.sep) >= depth:
                    folders.clear()
                for name in names:
                    if reader_of(name) is None:
                        continue
                    path = Path(place, name)
                    try:
                        seen = path.lstat()
                    except OSError:  # gone since, or its path is too long
                        continue
                    if stat.S_ISREG(seen.st_mode):
                        found.append((path, seen.st_size))
        return sorted(found)

    def _follow(self, path: Path, passes_over: int) -> None:
        reader = reader_of(path.name)
        if reader is None:
            return
        if len(self._files) >= MAX_FILES:
            self._say(self._folders[0], f"of more than {MAX_FILES} files the rest is not read")
            return
        self._files[path] = GrowingFile(path, reader, passes_over)

    def _is_taken(self, number: Number) -> bool:
        if number.tag in self._tags:
            return True
        size = len(json.dumps(number.tag))
        is_room = len(self._tags) < MAX_TAGS and self._tags_bytes + size <= MAX_TAGS_BYTES
        if not is_room or len(number.tag) > MAX_TAG_CHARACTERS:
            self._say(Path("tags"), f"of more than {MAX_TAGS} names, and of very long ones, the rest is not read")
            return False
        self._tags.add(number.tag)
        self._tags_bytes += size
        return True

    def _say(self, path: Path, what: str) -> None:
        if (str(path), what) in self._said:
            return
        self._said.add((str(path), what))
        self._warn(f"metric file {path.name}: {what}")
