"""The whole interface under one name."""

from rnow.models import RewardArgs, ToolArgs

from .judge import llm_judge
from .response import get_response
from .reward import (
    REWARD_REGISTRY,
    clear_reward_registry,
    compute_total_reward,
    is_precondition,
    is_sandbox_reward,
    reward,
)
from .tool import TOOL_REGISTRY, clear_tool_registry, is_sandbox_tool, tool

__all__ = [
    "REWARD_REGISTRY",
    "RewardArgs",
    "TOOL_REGISTRY",
    "ToolArgs",
    "clear_reward_registry",
    "clear_tool_registry",
    "compute_total_reward",
    "get_response",
    "is_precondition",
    "is_sandbox_reward",
    "is_sandbox_tool",
    "llm_judge",
    "reward",
    "tool",
]
