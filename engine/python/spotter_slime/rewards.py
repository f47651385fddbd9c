"""Rewards for slime: ``--custom-rm-path spotter_slime.reward``, ``--custom-reward-post-process-path``."""

import math
from typing import Any, Dict, List, Optional, Tuple, Union

from .client import judge
from .parse import parse_answer


async def reward(args: Any, sample: Union[Any, List[Any]], **_: Any) -> Union[Optional[float], List[Optional[float]]]:
    """What a sample is worth; None where there is no verdict, which is not the same as 0.

    slime hands over one sample, or a list where it judges in batches.
    """
    samples = sample if isinstance(sample, list) else [sample]
    verdicts = await judge().judge([reward_row(each) for each in samples])
    totals = []
    for each, verdict in zip(samples, verdicts):
        total = verdict.get("total")
        each.metadata["spotter_verdict"] = verdict
        if total is None:
            # Learns nothing, and moves nobody's mean: see post_process.
            each.remove_sample = True
        totals.append(total)
    return totals if isinstance(sample, list) else totals[0]


def reward_row(sample: Any) -> Dict[str, Any]:
    """As the embedded engine sends it: the row of the dataset, the answer taken apart, the whole conversation."""
    own = sample.metadata["spotter"]
    row = own["row"]
    response = own.get("response") or parse_answer(sample.response)
    messages = own.get("messages") or [*own["prompt"], assistant_message(response)]
    status = getattr(sample.status, "value", str(sample.status))
    answer: Dict[str, Any] = {
        "row": row,
        "metadata": as_record(row.get("metadata")),
        "variables": as_record(row.get("variables")),
        "response": response,
        "completion": {
            "tokens": own.get("answerTokens", sample.response_length),
            "finishReason": "length" if status == "truncated" else "stop",
        },
        "messages": messages,
    }
    if own.get("rewards") is not None:
        answer["rewards"] = own["rewards"]
    return answer


def assistant_message(response: Dict[str, Any]) -> Dict[str, Any]:
    message: Dict[str, Any] = {"role": "assistant", "content": response["content"]}
    if response["reasoning"]:
        message["reasoning_content"] = response["reasoning"]
    if response["toolCalls"]:
        message["tool_calls"] = [{"type": "function", "function": call} for call in response["toolCalls"]]
    return message


def as_record(value: Any) -> Dict[str, Any]:
    return value if isinstance(value, dict) else {}


def post_process(args: Any, samples: List[Any], **_: Any) -> Tuple[List[float], List[float]]:
    """Raw rewards and what is learnt from: as slime's own normalisation, over the samples with a verdict alone."""
    raw = [value_of(args, sample) for sample in samples]
    for sample, value in zip(samples, raw):
        if value is None:
            sample.remove_sample = True
    normalises = args.advantage_estimator in ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")
    size = args.n_samples_per_prompt
    if len(raw) != size * args.rollout_batch_size:
        # Groups of other sizes: slime takes them all for one.
        size = len(raw)
    told: List[float] = []
    learnt: List[float] = []
    for start in range(0, len(raw), max(1, size)):
        group = raw[start : start + size]
        known = [value for value in group if value is not None]
        mean = sum(known) / len(known) if known else 0.0
        # Without a verdict the mean: what is shown as the mean reward does not move.
        told.extend(mean if value is None else value for value in group)
        if normalises and args.rewards_normalization:
            learnt.extend(normalised(args, group, known, mean))
        else:
            learnt.extend(0.0 if value is None else value for value in group)
    return told, learnt


def normalised(args: Any, group: List[Optional[float]], known: List[float], mean: float) -> List[float]:
    scale = 1.0
    if args.advantage_estimator != "reinforce_plus_plus_baseline" and args.grpo_std_normalization:
        # Of the sample, as torch.std has it.
        spread = sum((value - mean) ** 2 for value in known) / (len(known) - 1) if len(known) > 1 else 0.0
        scale = math.sqrt(spread) + 1e-6
    return [0.0 if value is None else (value - mean) / scale for value in group]


def value_of(args: Any, sample: Any) -> Optional[float]:
    value = sample.reward if not args.reward_key or sample.reward is None else sample.reward[args.reward_key]
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None
