"""Takes a model's answer apart: what it thought, what it said, and the tools it called.

Two ways of writing calls are read: JSON in ``<tool_call>`` (Hermes, Qwen2.5, Qwen3) and ``<function=name>`` with
``<parameter=name>`` inside it (Qwen3-Coder, Qwen3.5). A call that is malformed stays in the text as written.
"""

import json
import re
from typing import Any, Dict, List, Optional

CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
FUNCTION = re.compile(r"^<function=([^>\s]+)>(.*)</function>$", re.DOTALL)
PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)


def parse_answer(text: str) -> Dict[str, Any]:
    """``content``, ``reasoning`` and ``toolCalls``, as a reward gets them."""
    reasoning, said = split_thinking(text)
    calls: List[Dict[str, Any]] = []

    def take(match: "re.Match[str]") -> str:
        call = read_call(match.group(1))
        if call is None:
            return match.group(0)
        calls.append(call)
        return ""

    content = CALL.sub(take, said).strip()
    return {"content": content, "reasoning": reasoning, "toolCalls": calls}


def split_thinking(text: str) -> tuple:
    """A template may have opened the thinking in the prompt: then only its end is in the answer."""
    begin, end = text.find("<think>"), text.find("</think>")
    if end < 0:
        # Cut off while it thought: it has said nothing.
        return (text[begin + len("<think>") :].strip(), "") if begin >= 0 else ("", text)
    start = begin + len("<think>") if 0 <= begin < end else 0
    before = text[:begin] if 0 <= begin < end else ""
    return text[start:end].strip(), before + text[end + len("</think>") :]


def read_call(text: str) -> Optional[Dict[str, Any]]:
    match = FUNCTION.match(text)
    if match:
        values = {name: json_or_text(value) for name, value in PARAMETER.findall(match.group(2))}
        return {"name": match.group(1), "arguments": values}
    try:
        call = json.loads(text)
    except ValueError:
        return None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None
    return {"name": call["name"], "arguments": call.get("arguments", {})}


def json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value
