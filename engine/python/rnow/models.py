"""What rewards and tools are called with."""

from dataclasses import dataclass, field
from typing import Any, Dict


@dataclass
class RewardArgs:
    """First argument of a reward: the row's metadata and variables, and the secrets that were granted."""

    metadata: Dict[str, Any] = field(default_factory=dict)
    variables: Dict[str, Any] = field(default_factory=dict)
    secrets: Dict[str, str] = field(default_factory=dict)


@dataclass
class ToolArgs:
    """What a tool gets as `args`, besides what the model wrote."""

    metadata: Dict[str, Any] = field(default_factory=dict)
    secrets: Dict[str, str] = field(default_factory=dict)
