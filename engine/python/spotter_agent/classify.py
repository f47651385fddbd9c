"""Why an engine ended: a pure function of its exit code and its last lines."""

import re
import signal
from typing import List, NamedTuple, Optional, Pattern, Tuple

from .errors import JobError


class Cause(NamedTuple):
    code: str
    words: str
    hint: str


OUT_OF_GPU_MEMORY = Cause(
    "container_out_of_memory",
    "The GPU ran out of memory.",
    "Fewer tokens at once (trainer.microBatchSize, max_tokens_per_gpu), a smaller cache share, or more GPUs.",
)
OUT_OF_MEMORY = Cause(
    "container_out_of_memory",
    "The engine was killed for want of memory.",
    "Take hardware with more memory, or keep less of the optimizer in it.",
)
BROKEN_GPU = Cause("container_failed", "A GPU is broken.", "The next attempt gets another instance.")
LOST_GPUS = Cause(
    "container_failed", "The GPUs lost each other (NCCL).", "A node or a network between them failed."
)
FULL_DISK = Cause("disk_full", "The disk is full.", "Take a larger disk, or save less often.")
GATED = Cause("hub_gated", "The hub does not give this model to us.", "Accept its terms, and grant the secret HF_TOKEN.")
NO_MODEL = Cause("model_not_found", "The engine did not find the model.", "Check the model's name and revision.")
USER_CODE = Cause("reward_failed", "User code of the run failed.", "`spotter test` runs it without an engine.")
TAKEN_PORT = Cause("engine_failed", "A port of the engine is taken.", "Another engine runs on this host.")
# In this order: the first that fits is the cause, the rest is what came of it.
PATTERNS: List[Tuple[Pattern[str], Cause]] = [
    (re.compile(pattern), cause)
    for pattern, cause in (
        (r"CUDA out of memory|OutOfMemoryError: CUDA|CUBLAS_STATUS_ALLOC_FAILED", OUT_OF_GPU_MEMORY),
        (r"larger than the maximum number of tokens that can be stored in KV cache", OUT_OF_GPU_MEMORY),
        (r"ray\.exceptions\.OutOfMemoryError|OOM[- ]?kill|Out of memory: Killed|MemoryError\b", OUT_OF_MEMORY),
        (r"No space left on device|Errno 28\b", FULL_DISK),
        (r"\bXid\b|fallen off the bus|uncorrectable ECC|CUDA error: (device-side|unspecified launch)", BROKEN_GPU),
        # Not its warnings, which come by on good days too.
        (r"NCCL error|ncclUnhandled|ncclSystemError|ncclRemoteError|Watchdog caught collective", LOST_GPUS),
        (r"GatedRepoError|gated repo|401 Client Error.*huggingface|Access to model .* is restricted", GATED),
        (r"RepositoryNotFoundError|is not a local folder and is not a valid model identifier", NO_MODEL),
        (r'File "[^"]*\b(rewards|tools)\.py"|SpotterUserCodeError', USER_CODE),
        (r"Address already in use|EADDRINUSE", TAKEN_PORT),
    )
]
# Only before the first step: later on the same words come of something else.
SETTINGS = re.compile(
    r"error: (unrecognized arguments|argument |the following arguments are required|ambiguous option)"
    r"|ValidationError|AssertionError|NotImplementedError|ValueError: .*(must|should|not supported|required)"
)
REFUSED = Cause("invalid_input", "The engine does not take its settings.", "Change what its last lines name.")
# Python's own last line of a traceback, and what engines print as their error.
LAST_ERROR = re.compile(r"^\s*(?:\(.*?\)\s*)?([\w.]*(?:Error|Exception|Interrupt)\b.*|.*\berror: .*)$")
MAX_QUOTE = 300


def cause_of_end(exit_code: Optional[int], tail: List[str], has_worked: bool = False) -> JobError:
    """The failure of an engine that ended without being asked to, by its own last lines.

    ``exit_code`` is None for one that hung, negative for a signal. ``has_worked``: it got through a step.
    """
    text = "\n".join(tail)
    quote = last_error(tail)
    patterns = PATTERNS if has_worked else [*PATTERNS, (SETTINGS, REFUSED)]
    for pattern, cause in patterns:
        if pattern.search(text):
            words = f"{cause.words} {quote}" if quote else cause.words
            return JobError(cause.code, words, hint=cause.hint)
    if exit_code in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return JobError(OUT_OF_MEMORY.code, OUT_OF_MEMORY.words, hint=OUT_OF_MEMORY.hint)
    if exit_code in (-signal.SIGTERM, 128 + signal.SIGTERM):
        return JobError("preempted", "The engine was told to end by its host.")
    how = "did not end" if exit_code is None else ended_how(exit_code)
    words = f"The engine {how}." + (f" {quote}" if quote else "")
    return JobError("engine_failed", words, hint="Its last lines are in the log.")


def ended_how(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


def last_error(tail: List[str]) -> str:
    """The line that says most about a failure; empty where none does."""
    for line in reversed(tail):
        match = LAST_ERROR.match(line)
        if match:
            return match.group(1).strip()[:MAX_QUOTE]
    return ""
