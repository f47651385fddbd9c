"""The run's rewards and tools: those in TypeScript by the control plane, those in Python in a process beside it."""

import asyncio
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

from spotter_agent.client import JobClient
from spotter_agent.errors import JobError

# A teacher that loads, or has too much to do, is asked again for this long, as the embedded engine does.
TEACHER_WITHIN_S = 1_800.0
TEACHER_AGAIN_S = 2.0
# A verdict that takes longer than this belongs to a reward that hangs; the control plane has limits of its own.
JUDGE_TIMEOUT_S = 300.0


class SpotterUserCodeError(RuntimeError):
    """Code of the run that cannot be used at all; the agent knows it by its name."""


class PythonHost:
    """``engine/python/user_code.py`` as a child: JSON lines in and out, started again when it has died."""

    def __init__(self, folder: Path, files: List[str], secrets: Dict[str, str]) -> None:
        self._folder = folder
        self._files = files
        self._secrets = secrets
        self._process: Optional[asyncio.subprocess.Process] = None
        self._waiting: Dict[int, asyncio.Future] = {}
        self._reading: Optional[asyncio.Future] = None
        self._ids = 0
        self._starting = asyncio.Lock()
        self.described: Dict[str, Any] = {}

    async def start(self) -> None:
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return
            program = Path(__file__).resolve().parent.parent / "user_code.py"
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(program),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=64 * 1024 * 1024,
                env={name: value for name, value in os.environ.items() if not name.startswith("SPOTTER_")},
            )
            # A loop keeps only weak references to its tasks.
            self._reading = asyncio.ensure_future(self._read(self._process))
            loading = {"op": "load", "folder": str(self._folder), "files": self._files, "secrets": self._secrets}
            try:
                self.described = await self._ask(loading)
            except RuntimeError as error:
                raise SpotterUserCodeError(str(error)) from error

    async def call(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """{"value": ...} or {"error": {code, message}}."""
        await self.start()
        word = request["op"]
        try:
            return {"value": await asyncio.wait_for(self._ask(request), JUDGE_TIMEOUT_S)}
        except asyncio.TimeoutError:
            return {"error": {"code": f"{word}_timeout", "message": "took too long"}}
        except RuntimeError as error:
            return {"error": {"code": f"{word}_failed", "message": str(error)}}

    async def _ask(self, request: Dict[str, Any]) -> Any:
        process = self._process
        if process is None or process.stdin is None:
            raise RuntimeError("The process of the Python rewards is not there.")
        self._ids += 1
        answer: asyncio.Future = asyncio.get_running_loop().create_future()
        self._waiting[self._ids] = answer
        process.stdin.write(json.dumps({**request, "id": self._ids}).encode() + b"\n")
        return await answer

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            reply = json.loads(line)
            answer = self._waiting.pop(reply["id"], None)
            if answer is None or answer.done():
                continue
            if "error" in reply:
                answer.set_exception(RuntimeError(f"{reply['error']['code']}: {reply['error']['message']}"))
            else:
                answer.set_result(reply["value"])
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(RuntimeError("The process of the Python rewards ended."))
        self._waiting.clear()


class Judge:
    """One per process of slime's rollout manager, made when it is first needed."""

    def __init__(self) -> None:
        env = os.environ
        self._client = JobClient(env["SPOTTER_URL"], env["SPOTTER_JOB_ID"], env["SPOTTER_JOB_TOKEN"])
        self._client.job = {"attempt": int(env["SPOTTER_ATTEMPT"])}
        self.setup: Dict[str, Any] = json.loads(Path(env["SPOTTER_SLIME_SETUP"]).read_text())
        self._python: Optional[PythonHost] = None

    @property
    def is_distillation(self) -> bool:
        return self.setup.get("kind") == "distill"

    @property
    def has_rewards(self) -> bool:
        return bool(self.setup.get("hasRewards", True))

    def put_rollouts(self, step: int, records: List[Dict[str, Any]]) -> None:
        self._client.put_rollouts(step, records)

    async def grade(self, tokens: List[int]) -> List[float]:
        """The teacher's log-probability of each token."""
        until = time.monotonic() + TEACHER_WITHIN_S
        while True:
            question = {"kind": "score", "sequences": [list(tokens)]}
            reply = await asyncio.to_thread(self._client.ask_teacher, question)
            if "sequences" in reply:
                return list(reply["sequences"][0]["logprobs"])
            if time.monotonic() > until:
                raise JobError("teacher_failed", f"The teacher was not there in time: {reply['waiting']}")
            await asyncio.sleep(TEACHER_AGAIN_S)

    async def judge(self, rows: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """One verdict a row, in order."""
        python = self.setup.get("python", {})
        if "rewards" not in python:
            return await asyncio.to_thread(self._client.judge, rows)
        return list(await asyncio.gather(*(self._judge_in_python(row, python["rewards"]) for row in rows)))

    async def call_tools(self, calls: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """{"value": ...} or {"error": ...} a call, in order."""
        python = self.setup.get("python", {})
        if "tools" not in python:
            return await asyncio.to_thread(self._client.call_tools, calls)
        host = self._host(python)
        timeout_ms = python["tools"].get("timeoutMs", 10_000)
        requests = [
            {"op": "tool", "name": call["tool"], "input": call["input"], "timeoutMs": timeout_ms} for call in calls
        ]
        return list(await asyncio.gather(*(host.call(request) for request in requests)))

    async def _judge_in_python(self, row: Dict[str, Any], setup: Dict[str, Any]) -> Dict[str, Any]:
        host = self._host(self.setup["python"])
        await host.start()
        known = {each["name"]: each for each in host.described["rewards"]}
        names = row.get("rewards") or setup.get("names") or list(known)
        scores: Dict[str, Any] = {}
        errors: Dict[str, Any] = {}
        for name in names:
            if name not in known:
                errors[name] = {"code": "reward_missing", "message": f"There is no reward {name}."}
                continue
            request = {
                "op": "reward",
                "name": name,
                "timeoutMs": known[name].get("timeoutMs") or setup.get("timeoutMs", 10_000),
                "metadata": row["metadata"],
                "variables": row["variables"],
                "messages": row["messages"],
            }
            result = await host.call(request)
            if "error" in result:
                errors[name] = result["error"]
            else:
                value = result["value"]
                score = value if isinstance(value, dict) else {"score": value}
                precondition = bool(known[name].get("precondition"))
                scores[name] = {"weight": 1, "precondition": precondition, **score}
        return combine(scores, errors)

    def _host(self, python: Dict[str, Any]) -> PythonHost:
        if self._python is None:
            self._python = PythonHost(Path(python["folder"]), python["files"], python.get("secrets", {}))
        return self._python


def combine(scores: Dict[str, Any], errors: Dict[str, Any]) -> Dict[str, Any]:
    """No total where a reward gave no verdict; 0 where a precondition is 0; else the sum of weight times score."""
    verdict: Dict[str, Any] = {"scores": scores, "errors": errors}
    if errors:
        return verdict
    if any(each["precondition"] and each["score"] == 0 for each in scores.values()):
        return {**verdict, "total": 0}
    return {**verdict, "total": sum(each["weight"] * each["score"] for each in scores.values())}


_judge: Optional[Judge] = None
_guard = threading.Lock()


def judge() -> Judge:
    global _judge
    with _guard:
        if _judge is None:
            _judge = Judge()
        return _judge


def forget() -> None:
    """For tests: the next call reads the environment anew."""
    global _judge
    _judge = None
