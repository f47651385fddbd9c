"""Rewards for slime: ``--custom-rm-path spotter_slime.reward``, ``--custom-reward-post-process-path``."""

import asyncio
import math
from typing import Any, Dict, List, Optional, Tuple, Union

from .client import judge
from .parse import parse_answer


# A sample without a verdict. slime keeps rewards in tensors and rounds them: None would end the training.
NO_VERDICT = math.nan


async def reward(args: Any, sample: Union[Any, List[Any]], **_: Any) -> Union[float, List[float]]:
    """What a sample is worth; NaN where there is no verdict, which is not the same as 0.

    slime hands over one sample, or a list where it judges in batches.
    """
    samples = sample if isinstance(sample, list) else [sample]
    run = judge()
    if run.is_distillation:
        await asyncio.gather(*(grade(each) for each in samples))
    if not run.has_rewards:
        # Nothing to be measured: all is learnt from the teacher.
        return [0.0 for _ in samples] if isinstance(sample, list) else 0.0
    verdicts = await run.judge([reward_row(each) for each in samples])
    totals = []
    for each, verdict in zip(samples, verdicts):
        total = verdict.get("total")
        each.metadata["spotter_verdict"] = verdict
        if total is None and not run.is_distillation:
            # Learns nothing, and moves nobody's mean: see post_process.
            each.remove_sample = True
        totals.append(NO_VERDICT if total is None else total)
    return totals if isinstance(sample, list) else totals[0]


async def grade(sample: Any) -> None:
    """Leaves the teacher's log-probability of each token of the answer, as slime's own distillation does."""
    graded = await judge().grade(sample.tokens)
    sample.teacher_log_probs = graded[len(graded) - sample.response_length :]


def reward_row(sample: Any) -> Dict[str, Any]:
    """As the embedded engine sends it: the row of the dataset, the answer taken apart, the whole conversation."""
    own = own_of(sample)
    row = own["row"]
    response = own.get("response") or parse_answer(sample.response)
    messages = own.get("messages") or [*own["prompt"], assistant_message(response)]
    answer: Dict[str, Any] = {
        "row": row,
        "metadata": as_record(row.get("metadata")),
        "variables": as_record(row.get("variables")),
        "response": response,
        "completion": {
            "tokens": own.get("answerTokens", sample.response_length),
            "finishReason": "length" if status_of(sample) == "truncated" else "stop",
        },
        "messages": messages,
    }
    if own.get("rewards") is not None:
        answer["rewards"] = own["rewards"]
    return answer


def status_of(sample: Any) -> str:
    return str(getattr(sample.status, "value", sample.status))


def own_of(sample: Any) -> Dict[str, Any]:
    """What the run's dataset says of a sample. A dataset of slime's own (evalConfig) is judged by its label."""
    if "spotter" not in sample.metadata:
        prompt = sample.prompt if isinstance(sample.prompt, list) else [{"role": "user", "content": sample.prompt}]
        row = {"label": getattr(sample, "label", None), "metadata": dict(sample.metadata)}
        sample.metadata["spotter"] = {"row": row, "prompt": prompt, "rewards": None, "tools": None}
    return sample.metadata["spotter"]


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
    overall = mean_of([value for value in raw if value is not None])
    if judge().is_distillation:
        # Rewards are measured and not learnt.
        return [overall if value is None else value for value in raw], [0.0 for _ in raw]
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
        mean = mean_of(known) if known else overall
        # Without a verdict the mean: what is shown as the mean reward does not move.
        told.extend(mean if value is None else value for value in group)
        if normalises and args.rewards_normalization:
            learnt.extend(normalised(args, group, known, mean))
        else:
            learnt.extend(0.0 if value is None else value for value in group)
    return told, learnt


def mean_of(values: List[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def normalised(args: Any, group: List[Optional[float]], known: List[float], mean: float) -> List[float]:
    scale = 1.0
    if args.advantage_estimator != "reinforce_plus_plus_baseline" and args.grpo_std_normalization:
        scale = math.sqrt(variance_of(known)) + 1e-6
    return [0.0 if value is None else (value - mean) / scale for value in group]


def value_of(args: Any, sample: Any) -> Optional[float]:
    value = sample.reward if not args.reward_key or sample.reward is None else sample.reward[args.reward_key]
    return value if is_verdict(value) else None


def is_verdict(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def variance_of(values: List[float]) -> float:
    """Of the sample, as torch.std has it."""
    mean = mean_of(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1) if len(values) > 1 else 0.0


def check_reward_nonzero_std(args: Any, samples: List[Any], **_: Any) -> Any:
    """slime's filter of the same name over the samples with a verdict alone: a group is kept where they differ."""
    from slime.rollout.filter_hub.base_types import DynamicFilterOutput

    known = [value for value in (value_of(args, sample) for sample in samples) if value is not None]
    if not known:
        return DynamicFilterOutput(keep=False, reason="no_verdict")
    keep = len(known) > 1 and math.sqrt(variance_of(known)) > 1e-6
    return DynamicFilterOutput(keep=keep, reason=None if keep else f"zero_std_{round(known[0], 1)}")


def log_eval(rollout_id: int, args: Any, data: Dict[str, Any], extra_metrics: Optional[Dict[str, Any]]) -> bool:
    """Before slime takes the mean of an evaluation: who has no verdict does not move it, and is counted."""
    for name, told in data.items():
        known = [value for value in told["rewards"] if is_verdict(value)]
        missing = len(told["rewards"]) - len(known)
        if missing == 0:
            continue
        mean = mean_of(known) if known else NO_VERDICT
        told["rewards"] = [value if is_verdict(value) else mean for value in told["rewards"]]
        if extra_metrics is not None:
            extra_metrics[f"eval/{name}-no_verdict"] = missing
    # False: slime goes on with its own log.
    return False
