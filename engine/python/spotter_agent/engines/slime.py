"""slime (THUDM/slime 624b824a): its log lines, and what its words mean to the agent.

Log lines are those of ``logger.info`` in slime/observability and slime/backends/megatron_utils/model.py:
``step N: {...}``, ``rollout N: {...}``, ``perf N: {...}``, ``eval N: {...}`` and ``Timer NAME start``.
"""

import ast
import math
import re
from typing import Dict, List, NamedTuple, Optional

# Ray's name of the process, the logger's time and place: what a model wrote has none of them.
HEAD = r"^\s*(?:\([^()]*\)\s*)?\[[^\[\]]*\] [\w.]+:\d+ - "
METRICS = re.compile(HEAD + r"(?P<kind>step|rollout|perf|eval) (?P<number>\d{1,9}): (?P<values>\{.*\})\s*$")
TIMER = re.compile(HEAD + r"Timer (?P<name>\w+) start\b")
COLOURS = re.compile(r"\x1b\[[\d;]*m")
# Its own lines are much shorter; a longer one is data.
MAX_LINE_CHARACTERS = 16_384
# A value that is no literal of Python, as numpy and torch print theirs.
WRAPPED = re.compile(r"\b(?:np\.float\d+|np\.int\d+|tensor)\(([^()]*)\)")
NOT_A_NUMBER = re.compile(r"(?<![\w'\"/])(-?)(nan|inf)(?![\w'\"/])")
PHASES = {
    "train_wait": "generate",
    "data_preprocess": "generate",
    "ref_log_probs": "score",
    "log_probs": "score",
    "critic_train": "train",
    "actor_train": "train",
    "train": "train",
    "update_weights": "sync-weights",
    "save_model": "save-checkpoint",
}
# Go on from a checkpoint that has no optimizer; write Hugging Face weights beside each checkpoint.
WITHOUT_OPTIMIZER = "--no-load-optim"
SAVES_WEIGHTS = "--save-hf"
# Write TensorBoard's event files.
WRITES_EVENTS = "--use-tensorboard"


class Told(NamedTuple):
    """What a line tells: numbers of a step (counted from 1) by slime's names, or the phase that begins.

    Steps of the optimizer have numbers of their own, of which a rollout may have several: ``is_optimizer_step`` says
    that ``values`` are of the rollout that is being learnt, which a line with ``is_rollout`` began.
    """

    step: Optional[int] = None
    values: Optional[Dict[str, float]] = None
    phase: Optional[str] = None
    is_rollout: bool = False
    is_optimizer_step: bool = False


def read_line(line: str) -> Optional[Told]:
    """None for a line that tells nothing, however odd it is."""
    if len(line) > MAX_LINE_CHARACTERS:
        return None
    line = COLOURS.sub("", line)
    match = METRICS.match(line)
    if match:
        values = numbers(match.group("values"))
        if not values:
            return None
        kind = match.group("kind")
        return Told(
            step=int(match.group("number")) + 1,
            values=values,
            is_rollout=kind == "rollout",
            is_optimizer_step=kind == "step",
        )
    timer = TIMER.match(line)
    if timer and timer.group("name") in PHASES:
        return Told(phase=PHASES[timer.group("name")])
    return None


def numbers(text: str) -> Dict[str, float]:
    """The finite numbers of a printed dictionary."""
    plain = NOT_A_NUMBER.sub("None", WRAPPED.sub(r"\1", text))
    try:
        parsed = ast.literal_eval(plain)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    if not isinstance(parsed, dict):
        return {}
    told = {name: number(value) for name, value in parsed.items() if isinstance(name, str)}
    return {name: value for name, value in told.items() if value is not None}


def number(value: object) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if math.isfinite(as_float) else None


OWN_NAMES = {
    "rollout/raw_reward": "reward/mean",
    "rollout/rewards": "advantage_mean",
    "rollout/opd_reverse_kl": "reverse_kl",
    "train/loss": "loss",
    "train/kl_loss": "kl",
    "train/ppo_kl": "kl_to_sampler",
    "train/entropy_loss": "entropy",
    "train/pg_clipfrac": "clip_fraction",
    "train/grad_norm": "grad_norm",
    "rollout/response_lengths": "completion_tokens_mean",
    "perf/rollout_time": "generate_seconds",
    "perf/train_time": "train_seconds",
    "perf/step_time": "step_seconds",
}


# The evalDataset of a run is called `eval`, and evaluations of all datasets are told below `eval/`.
EVAL_NAMES = {"eval/eval": "eval/reward/mean", "eval/eval-no_verdict": "eval/missing_verdicts"}
OF_EVAL_DATASET = re.compile(r"^eval/eval[-/]")


def own_name(name: str) -> str:
    """The name that charts know a metric by; others keep theirs."""
    if name.startswith("train/lr-"):
        return "lr"
    return EVAL_NAMES.get(name) or OWN_NAMES.get(name) or OF_EVAL_DATASET.sub("eval/", name)


def has_reference(argv: List[str]) -> bool:
    """Whether what was learnt is compared with what it began as, whose weights are then needed all along."""
    return "--use-kl-loss" in argv or "--kl-coef" in argv


def keeps_dataset_state(argv: List[str]) -> bool:
    """Whether slime writes down where its dataset stands; one of the user's own need not."""
    return "--disable-rollout-global-dataset" not in argv
