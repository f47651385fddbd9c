"""A number as a metric file has it."""

from typing import List, NamedTuple, Optional


class Number(NamedTuple):
    """``step`` counts as the engine counts under ``tag``. ``is_single``: written with the precision of a float32."""

    tag: str
    step: int
    value: float
    is_single: bool


class Taken(NamedTuple):
    """What part of a file said. ``used``: its bytes that need not be read again; it may be more than there were."""

    used: int
    numbers: List[Number]
    fault: Optional[str] = None
