"""What was sampled, for the run's record: ``--custom-rollout-log-function-path spotter_slime.log_rollout``."""

import logging
from typing import Any, Dict, List, Optional

from spotter_agent.errors import JobError, Lost, Stale

from .client import judge
from .parse import parse_answer
from .rewards import assistant_message, mean_of, own_of, status_of

logger = logging.getLogger(__name__)
# The control plane takes 256 MiB at once; a token is at most so many bytes of JSON in its three lists.
MAX_TOKENS = 6_000_000


def log_rollout(
    rollout_id: int,
    args: Any,
    samples: List[Any],
    rollout_extra_metrics: Optional[Dict[str, Any]],
    rollout_time: float,
) -> bool:
    """Stores the samples of a step, token for token. False: slime goes on with its own log."""
    flat = [one for each in samples for one in (each if isinstance(each, list) else [each])]
    # As slime tells numbers, which is how the agent hears of them.
    logger.info(f"perf {rollout_id}: {verdict_metrics(flat)}")
    run = judge()
    step = rollout_id + 1 - int(run.setup.get("startedSteps", 0))
    records: List[Dict[str, Any]] = []
    tokens = 0
    for index, sample in enumerate(flat):
        tokens += len(sample.tokens)
        if tokens > MAX_TOKENS:
            print(f"rollouts: {index} of {len(flat)} are stored, there are too many tokens in all of them", flush=True)
            break
        records.append(record_of(sample, step, index, index // max(1, args.n_samples_per_prompt)))
    try:
        run.put_rollouts(step, records)
    except (Lost, Stale):
        raise
    except JobError as error:
        # A record that is missing is no reason to end a training.
        print(f"rollouts: those of step {step} could not be stored: {error.message}", flush=True)
    return False


def verdict_metrics(samples: List[Any]) -> Dict[str, float]:
    """How many verdicts are missing, and the mean of each reward, as the embedded engine tells them."""
    verdicts = [each.metadata["spotter_verdict"] for each in samples if "spotter_verdict" in each.metadata]
    scores: Dict[str, List[float]] = {}
    for verdict in verdicts:
        for name, told in verdict["scores"].items():
            scores.setdefault(f"reward/{name}", []).append(float(told["score"]))
    missing = sum(1 for verdict in verdicts if "total" not in verdict)
    return {"missing_verdicts": float(missing), **{name: mean_of(values) for name, values in scores.items()}}


def record_of(sample: Any, step: int, index: int, group: int) -> Dict[str, Any]:
    """As the embedded engine records a rollout."""
    own = own_of(sample)
    prompt = [0] * (len(sample.tokens) - sample.response_length)
    mask = sample.loss_mask if sample.loss_mask is not None else [1] * sample.response_length
    logprobs = sample.rollout_log_probs if sample.rollout_log_probs is not None else [0.0] * sample.response_length
    messages = own.get("messages") or [*own["prompt"], assistant_message(parse_answer(sample.response))]
    answers = sum(1 for each in messages[len(own["prompt"]) :] if each["role"] == "assistant")
    record: Dict[str, Any] = {
        "step": step,
        "index": index,
        "group": group,
        "row": own["row"],
        "messages": messages,
        "turns": answers,
        "tokenIds": [int(each) for each in sample.tokens],
        "mask": [*prompt, *(int(each) for each in mask)],
        "logprobs": [*prompt, *(float(each) for each in logprobs)],
        "text": sample.response,
        "finishReason": "length" if status_of(sample) == "truncated" else "stop",
        "verdict": sample.metadata.get("spotter_verdict") or {"scores": {}, "errors": {}},
    }
    if status_of(sample) == "truncated":
        record["truncated"] = True
    return record
