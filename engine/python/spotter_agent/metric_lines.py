"""Metric files of lines of JSON, each an object with a step and numbers: ``{"step": 3, "my/score": 0.5}``."""

import json
import math
from typing import List, Optional

from .metric_number import Number, Taken

MAX_LINE_BYTES = 1024 * 1024
MAX_STEP = 2**53
# What slime puts into its own dictionaries.
STEPS = ("step", "train/step", "rollout/step", "eval/step")
NOT_READ = "lines that are no JSON object with a step are passed over"
TOO_LONG = "lines of more than a megabyte are passed over"


class MetricLines:
    """Takes what a file has grown by."""

    def __init__(self) -> None:
        self._is_cut = False

    def take(self, data: bytes, is_over: bool) -> Taken:
        """Reads the whole lines of ``data``, and when nothing more will come the last one too."""
        *lines, rest = data.split(b"\n")
        used = len(data) - len(rest)
        if self._is_cut and lines:
            self._is_cut, lines = False, lines[1:]
        fault: Optional[str] = None
        if self._is_cut or len(rest) > MAX_LINE_BYTES:
            self._is_cut, used, fault, rest = True, len(data), TOO_LONG, b""
        if is_over and rest:
            lines.append(rest)
            used = len(data)
        numbers: List[Number] = []
        for line in lines:
            if not line.strip():
                continue
            told = None if len(line) > MAX_LINE_BYTES else numbers_of(line)
            if told is None:
                fault = fault or (TOO_LONG if len(line) > MAX_LINE_BYTES else NOT_READ)
            else:
                numbers.extend(told)
        return Taken(used, numbers, fault)


def numbers_of(line: bytes) -> Optional[List[Number]]:
    """None for a line that is no such object."""
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict):
        return None
    step = next((parsed[name] for name in STEPS if name in parsed), None)
    if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= MAX_STEP:
        return None
    return [
        Number(tag, step, float(value), is_single=False)
        for tag, value in parsed.items()
        if tag and tag not in STEPS and is_number(value)
    ]


def is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
