"""Conversations for slime: ``--custom-generate-function-path spotter_slime.generate``.

The model answers, its calls are made, their results are appended, until the termination policy says stop. Tokens of
answers are kept as the engine sampled them, with their log-probabilities; nothing that was sampled is tokenised again.
"""

import json
from typing import Any, Dict, List, Optional

from .client import judge
from .parse import parse_answer
from .rewards import assistant_message, own_of

CUT_MARKER = "\n[cut]"
# Stands in for what the template renders before the messages that are new.
FILLER = [{"role": "user", "content": "."}, {"role": "assistant", "content": "."}]


async def generate(args: Any, sample: Any, sampling_params: Dict[str, Any], evaluation: bool = False) -> Any:
    """Plays one conversation and leaves tokens, mask and log-probabilities on the sample."""
    from slime.rollout.sglang_rollout import GenerateState
    from slime.utils.http_utils import post

    state = GenerateState(args)
    tokenizer = state.tokenizer
    setup = judge().setup["rollout"]
    # As slime rendered the prompt.
    template = {**setup.get("chatTemplateKwargs", {}), **(getattr(args, "apply_chat_template_kwargs", None) or {})}
    own = own_of(sample)
    tools = sample.metadata.get("tools")
    start_over(sample)
    sample.tokens = tokenizer(sample.prompt, add_special_tokens=False)["input_ids"]
    messages: List[Dict[str, Any]] = list(own["prompt"])
    limit = setup.get("contextTokens") or args.rollout_max_context_len or float("inf")
    parsed: Dict[str, Any] = {"content": "", "reasoning": "", "toolCalls": []}
    answered = 0
    for turn in range(setup["maxTurns"]):
        may_say = int(min(sampling_params["max_new_tokens"], limit - len(sample.tokens)))
        if may_say <= 0:
            sample.status = type(sample).Status.TRUNCATED
            break
        request: Dict[str, Any] = {
            "input_ids": list(sample.tokens),
            "sampling_params": {**sampling_params, "max_new_tokens": may_say},
            "return_logprob": True,
        }
        if getattr(args, "use_rollout_routing_replay", False):
            request["return_routed_experts"] = True
        output = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", request)
        told = output["meta_info"]
        finish = told["finish_reason"]["type"]
        if finish == "abort":
            sample.status = type(sample).Status.ABORTED
            return sample
        # Not there where nothing was sampled.
        sampled = told.get("output_token_logprobs") or []
        sample.append_response_tokens(
            args,
            tokens=[each[1] for each in sampled],
            log_probs=[each[0] for each in sampled],
            trainable=True,
            meta_info=told,
            text=output["text"],
        )
        answered += len(sampled)
        parsed = parse_answer(strip_end(output["text"], tokenizer))
        messages.append(assistant_message(parsed))
        if finish == "length":
            sample.status = type(sample).Status.TRUNCATED
            break
        sample.status = type(sample).Status.COMPLETED
        calls = parsed["toolCalls"]
        # Without a call there is nobody to answer, whatever the policy says.
        if not calls or turn == setup["maxTurns"] - 1:
            break
        results = await call_tools(own, calls)
        new = [tool_message(call, result) for call, result in zip(calls, results)]
        room = limit - len(sample.tokens)
        ids = appended(tokenizer, new, {**template, "tools": tools}, setup.get("maxToolTokens"), room)
        if ids is None:
            sample.status = type(sample).Status.TRUNCATED
            break
        messages.extend(new)
        sample.append_response_tokens(args, tokens=ids, trainable=False)
    own.update({"messages": messages, "response": parsed, "answerTokens": answered})
    return sample


def start_over(sample: Any) -> None:
    """One that was cut off (--partial-rollout) comes again with what it had, in the middle of nobody knows which turn."""
    sample.response = ""
    sample.response_length = 0
    sample.loss_mask = None
    sample.rollout_log_probs = None
    for name in ("rollout_top_p_token_ids", "rollout_top_p_token_offsets", "rollout_routed_experts"):
        if hasattr(sample, name):
            setattr(sample, name, None)


async def call_tools(own: Dict[str, Any], calls: List[Dict[str, Any]]) -> List[Any]:
    """What each call gives; an error is told to the model, as a tool's own words would be."""
    allowed = own.get("tools")
    asked = [call for call in calls if allowed is None or call["name"] in allowed]
    answers = iter(await judge().call_tools([{"tool": call["name"], "input": call["arguments"]} for call in asked]))
    results = []
    for call in calls:
        if call not in asked:
            results.append({"error": f"There is no tool {call['name']}."})
            continue
        answer = next(answers)
        results.append(answer["value"] if "value" in answer else {"error": answer["error"]["message"]})
    return results


def tool_message(call: Dict[str, Any], result: Any) -> Dict[str, Any]:
    content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return {"role": "tool", "name": call["name"], "content": content}


def appended(
    tokenizer: Any, new: List[Dict[str, Any]], template: Dict[str, Any], limit: Optional[int], room: float
) -> Optional[List[int]]:
    """Tokens of the new messages and of the beginning of the next answer; None where they do not fit at all.

    A result that is longer than there is room for is cut, with a marker.
    """
    for message in new:
        words = tokenizer(message["content"], add_special_tokens=False)["input_ids"]
        if limit is not None and len(words) > limit:
            message["content"] = tokenizer.decode(words[:limit]) + CUT_MARKER
    ids = rendered(tokenizer, new, template)
    over = len(ids) - int(min(room, 1 << 40)) + 1
    if over > 0:
        longest = max(new, key=lambda message: len(message["content"]))
        words = tokenizer(longest["content"], add_special_tokens=False)["input_ids"]
        kept = len(words) - over - len(tokenizer(CUT_MARKER, add_special_tokens=False)["input_ids"])
        if kept < 0:
            return None
        longest["content"] = tokenizer.decode(words[:kept]) + CUT_MARKER
        ids = rendered(tokenizer, new, template)
    return ids if len(ids) < room else None


def rendered(tokenizer: Any, new: List[Dict[str, Any]], template: Dict[str, Any]) -> List[int]:
    """Only what comes after an answer: the template renders a whole conversation, whose beginning is cut off."""
    kwargs = {**template, "tokenize": False}
    before = tokenizer.apply_chat_template(FILLER, add_generation_prompt=False, **kwargs)
    whole = tokenizer.apply_chat_template([*FILLER, *new], add_generation_prompt=True, **kwargs)
    if not whole.startswith(before.rstrip("\n")):
        raise ValueError("The chat template changes earlier messages; such conversations are not played on slime.")
    text = whole[len(before.rstrip("\n")) :]
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def strip_end(text: str, tokenizer: Any) -> str:
    end = getattr(tokenizer, "eos_token", None)
    return text[: -len(end)] if end and text.endswith(end) else text
