"""One number from two sources: the engine's log line is there first, its metric file is often more exact."""

import math
import struct
from collections import OrderedDict, deque
from typing import Deque, Dict, NamedTuple

from .metric_number import Number

# Files come up to two minutes after the lines; what is older than so many steps is not compared any more.
KEPT_STEPS = 1_000
# Of a tag in a step there is one number; whoever writes all of theirs under one step must not fill the memory.
KEPT_NUMBERS = 100
# Lines print as few as four digits of some numbers.
PRINTED = 1e-3


class Seen(NamedTuple):
    lines: Deque[float]
    files: Deque[Number]


class MetricMerge:
    """Which numbers are news. Steps are those that the engine counts under a tag."""

    def __init__(self) -> None:
        self._steps: "OrderedDict[int, Dict[str, Seen]]" = OrderedDict()

    def line(self, step: int, values: Dict[str, float]) -> Dict[str, float]:
        """Those of a log line that no file has told, as printed or better."""
        news = {}
        for tag, value in values.items():
            seen = self._seen(step, tag)
            if not any(is_same(value, told) or is_printed(value, told.value) for told in seen.files):
                news[tag] = value
            seen.lines.append(value)
        return news

    def file(self, number: Number) -> bool:
        """Whether it says something that no line has said as exactly."""
        seen = self._seen(number.step, number.tag)
        is_told = any(is_same(value, number) for value in seen.lines)
        seen.files.append(number)
        return not is_told

    def _seen(self, step: int, tag: str) -> Seen:
        tags = self._steps.get(step)
        if tags is None:
            tags = self._steps[step] = {}
            if len(self._steps) > KEPT_STEPS:
                self._steps.popitem(last=False)
        return tags.setdefault(tag, Seen(deque(maxlen=KEPT_NUMBERS), deque(maxlen=KEPT_NUMBERS)))


def is_same(value: float, number: Number) -> bool:
    """Whether the file has what ``value`` is, as far as its precision goes."""
    if not number.is_single:
        return value == number.value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0] == number.value
    except OverflowError:
        return False


def is_printed(value: float, exact: float) -> bool:
    return math.isclose(value, exact, rel_tol=PRINTED)
