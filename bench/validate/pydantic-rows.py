"""The checks of train.jsonl that `spotter validate` makes of rows of dataset_type rl, through pydantic 2.

Each line is parsed by pydantic itself, which is its fastest way; the rules that need more than one value are
validators. Prints { ok, rows, ms, cpuMs }.
"""

import json
import re
import sys
import time
from typing import Any, Literal, Optional, Union

from pydantic import BaseModel, ConfigDict, Field, model_validator

REWARDS = {"accuracy", "brevity"}
TOOLS: set[str] = set()
KNOWN = {"messages", "rewards", "tools", "metadata", "variables", "docker", "docker_env", "text"}
NAME = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
IMAGE = re.compile(r"^data:image/(png|jpeg|jpg|webp|gif);base64,")
WINDOW = 32768


class Part(BaseModel):
    model_config = ConfigDict(extra="allow")
    type: Literal["text", "thinking", "image", "image_url"]
    text: Optional[str] = None
    image: Optional[str] = None


class Function(BaseModel):
    name: str
    arguments: Union[str, dict[str, Any]]


class Call(BaseModel):
    id: Optional[str] = None
    function: Function


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")
    role: Literal["system", "user", "assistant", "tool"]
    content: Union[str, list[Part], None]
    tool_calls: Optional[list[Call]] = None
    tool_call_id: Optional[str] = None


class Entry(BaseModel):
    model_config = ConfigDict(extra="allow")
    messages: list[Message] = Field(min_length=1)
    rewards: list[str] = Field(min_length=1)
    tools: Optional[list[str]] = None
    metadata: Optional[dict[str, Any]] = None
    variables: Optional[dict[str, Any]] = None
    docker: Optional[str] = None
    docker_env: Optional[dict[str, str]] = None

    @model_validator(mode="after")
    def rules(self) -> "Entry":
        unknown = [key for key in (self.model_extra or {}) if key not in KNOWN]
        names = set()
        for name in self.rewards:
            if name in names or name not in REWARDS:
                raise ValueError(f"reward {name}")
            names.add(name)
        for name in self.tools or []:
            if name not in TOOLS:
                raise ValueError(f"tool {name}")
        if self.docker_env and not self.docker:
            raise ValueError("docker_env without docker")
        characters = 0
        users = 0
        open_calls: set[Optional[str]] = set()
        for index, message in enumerate(self.messages):
            if message.role == "system" and index > 0:
                raise ValueError("system first")
            users += message.role == "user"
            for call in message.tool_calls or []:
                open_calls.add(call.id)
            if message.role == "tool" and message.tool_call_id not in open_calls:
                raise ValueError("tool turn")
            content = message.content
            if content is None and not message.tool_calls:
                raise ValueError("content")
            if isinstance(content, str):
                characters += len(content)
                if "$" in content:
                    for match in NAME.finditer(content):
                        unknown.append(match.group(0))
            elif content is not None:
                for part in content:
                    if part.type == "image" and not IMAGE.match(part.image or ""):
                        raise ValueError("image")
                    characters += len(part.text or "")
        if users == 0:
            raise ValueError("no user")
        if characters / 4 > WINDOW:
            raise ValueError("long")
        return self


def main() -> None:
    started = time.perf_counter()
    before = time.process_time()
    rows = 0
    with open(sys.argv[1], "rb") as file:
        for line in file:
            if line.strip():
                Entry.model_validate_json(line)
                rows += 1
    ms = (time.perf_counter() - started) * 1000
    cpu_ms = (time.process_time() - before) * 1000
    print(json.dumps({"ok": True, "rows": rows, "ms": ms, "cpuMs": cpu_ms, "rssMiB": 0}))


main()
