"""Runs rewards.py and tools.py of a project for the trainer beside it.

Reads a request as JSON a line on stdin and answers each with a line on stdout; what user code prints goes to
stderr. Requests: {id, op: "load" | "reward" | "tool", ...}. Answers: {id, value} or {id, error: {code, message}}.
Needs nothing but Python 3.9 or newer.
"""

import asyncio
import inspect
import json
import math
import os
import sys
import threading
import traceback

# User code may print, and so may what it starts: the trainer's line is known to this file alone.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
os.dup2(2, 1)

HERE = os.path.dirname(os.path.abspath(__file__))
# Sync functions in threads: more of them only wait for each other.
THREADS = 8
TASKS = 64
MAX_TOOL_BYTES = 128 * 1024
MAX_REASON = 2000
# What is raised is stored with its row, and of a tool told to the model.
MAX_MESSAGE = 2000
MAX_METRICS = 64
MAX_METRIC_NAME = 100


class Fault(Exception):
    """An answer that is an error."""

    def __init__(self, code, message, **more):
        super().__init__(message)
        self.error = {"code": code, "message": message, **more}


def end_with_parent(parent):
    """Linux ends this process with the trainer, also while user code holds the interpreter."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)
    except Exception:
        return
    if os.getppid() != parent:
        os._exit(1)


class Host:
    def __init__(self, loop):
        self.loop = loop
        self.folder = ""
        self.secrets = {}
        self.slots = {"sync": asyncio.Semaphore(THREADS), "async": asyncio.Semaphore(TASKS)}

    async def answer(self, request):
        try:
            reply = {"value": await self.value_of(request)}
        except Fault as fault:
            reply = {"error": fault.error}
        except Exception as error:
            reply = {"error": {"code": "internal", "message": describe(error)}}
        ANSWERS.write(json.dumps({"id": request["id"], **reply}, allow_nan=False) + "\n")
        ANSWERS.flush()

    async def value_of(self, request):
        if request["op"] == "load":
            return self.load(request["folder"], request["files"], request.get("secrets", {}))
        return await (self.reward if request["op"] == "reward" else self.tool)(request)

    def load(self, folder, files, secrets):
        self.folder, self.secrets = os.path.realpath(folder), secrets
        os.environ.update(secrets)
        sys.path[:0] = [self.folder]
        for file in files:
            try:
                run_file(os.path.join(self.folder, file))
            except BaseException as error:
                raise Fault("user_code_invalid", f"{file}: {self.describe(error)}")
        from rnow.core import REWARD_REGISTRY, TOOL_REGISTRY

        for word, registry in (("reward", REWARD_REGISTRY), ("tool", TOOL_REGISTRY)):
            for name, function in registry.items():
                if getattr(function, f"__rnow_{word}__")["sandbox"]:
                    raise Fault("user_code_invalid", f"the {word} {name} wants a sandbox, and none is started here yet")
        return {
            "rewards": [rewarded(name, function) for name, function in REWARD_REGISTRY.items()],
            "tools": [tooled(name, function) for name, function in TOOL_REGISTRY.items()],
        }

    async def reward(self, request):
        from rnow.core import REWARD_REGISTRY, RewardArgs

        function = REWARD_REGISTRY.get(request["name"])
        if function is None:
            raise Fault("reward_missing", f"there is no reward {request['name']}")
        args = RewardArgs(request.get("metadata") or {}, request.get("variables") or {}, dict(self.secrets))
        call = lambda: function(args, request["messages"])
        return score_of(await self.called("reward", function, call, request["timeoutMs"]))

    async def tool(self, request):
        from rnow.core import TOOL_REGISTRY, ToolArgs
        from rnow.core.tool_schema import arguments_of

        function = TOOL_REGISTRY.get(request["name"])
        if function is None:
            raise Fault("tool_missing", f"there is no tool {request['name']}")
        told = function.__rnow_tool__
        try:
            values = arguments_of(told["parameters"], request.get("input"))
        except ValueError as error:
            raise Fault("tool_failed", str(error))
        if told["injected"] is not None:
            values[told["injected"]] = ToolArgs(request.get("metadata") or {}, dict(self.secrets))
        value = await self.called("tool", function, lambda: function(**values), request["timeoutMs"])
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise Fault("tool_invalid", f"it returned something that is not JSON: {error}")
        if len(text) > MAX_TOOL_BYTES:
            raise Fault("tool_invalid", f"it returned {len(text)} bytes of JSON; {MAX_TOOL_BYTES} is the most")
        return value

    async def called(self, word, function, call, timeout_ms):
        """What a call returns; a thread that does not end in time is left behind, and said to be stuck."""
        is_async = inspect.iscoroutinefunction(function)
        async with self.slots["async" if is_async else "sync"]:
            work = self.guarded(word, call) if is_async else self.in_thread(word, call)
            try:
                return await asyncio.wait_for(work, timeout_ms / 1000)
            except asyncio.TimeoutError:
                message = f"it took more than {timeout_ms / 1000:g} s"
                raise Fault(f"{word}_timeout", message, **({} if is_async else {"stuck": True}))

    async def guarded(self, word, call):
        """What user code raises is its own, a TimeoutError too; only a cancellation goes on."""
        try:
            return await call()
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            raise Fault(f"{word}_failed", self.describe(error))

    async def in_thread(self, word, call):
        done = self.loop.create_future()

        def settle(outcome):
            if not done.done():
                done.set_result(outcome)

        def work():
            try:
                outcome = (call(), None)
            except BaseException as error:
                outcome = (None, error)
            self.loop.call_soon_threadsafe(settle, outcome)

        threading.Thread(target=work, daemon=True).start()
        value, error = await done
        if error is not None:
            raise Fault(f"{word}_failed", self.describe(error))
        # A coroutine that was returned instead of awaited.
        return await self.guarded(word, lambda: value) if inspect.isawaitable(value) else value

    def describe(self, error):
        """Type, text, and the deepest line that the user wrote."""
        if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(self.folder):
            return f"{error.msg} (at {os.path.relpath(error.filename, self.folder)}:{error.lineno})"
        lines = [
            f"{os.path.relpath(frame.filename, self.folder)}:{frame.lineno}"
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename.startswith(self.folder + os.sep)
        ]
        return describe(error) + (f" (at {lines[-1]})" if lines else "")


def describe(error):
    try:
        text = str(error)
    except Exception:
        text = ""
    name = type(error).__name__
    return f"{name}: {text}"[:MAX_MESSAGE] if text else name


def run_file(path):
    """Runs a file as the module of its name, so that the files of a project may import each other."""
    import importlib

    importlib.import_module(os.path.splitext(os.path.basename(path))[0])


def rewarded(name, function):
    told = function.__rnow_reward__
    return {"name": name, "precondition": told["precondition"], **limited(told)}


def tooled(name, function):
    told = function.__rnow_tool__
    return {"name": name, "description": told["description"], "parameters": told["parameters"], **limited(told)}


def limited(told):
    return {} if told["timeout"] is None else {"timeoutMs": int(told["timeout"] * 1000)}


def score_of(value):
    """A finite number, or { score, metrics?, reason? }; everything else is no verdict."""
    if isinstance(value, dict):
        if "score" not in value or set(value) - {"score", "metrics", "reason"}:
            raise Fault("reward_invalid", "it returned a dict that is not { score, metrics?, reason? }")
        given = {"score": number_of(value["score"])}
        if value.get("metrics") is not None:
            given["metrics"] = metrics_of(value["metrics"])
        if value.get("reason") is not None:
            given["reason"] = str(value["reason"])[:MAX_REASON]
        return given
    return number_of(value)


def metrics_of(value):
    if not isinstance(value, dict):
        raise Fault("reward_invalid", f"its metrics are {type(value).__name__}, not a dict of numbers")
    if len(value) > MAX_METRICS:
        raise Fault("reward_invalid", f"it returned {len(value)} metrics; {MAX_METRICS} are the most")
    metrics = {str(name): number_of(each) for name, each in value.items()}
    longest = max(map(len, metrics), default=0)
    if longest > MAX_METRIC_NAME:
        message = f"the name of a metric has {longest} characters; {MAX_METRIC_NAME} are the most"
        raise Fault("reward_invalid", message)
    return metrics


def number_of(value):
    if value is None or isinstance(value, (str, bytes)) or not hasattr(type(value), "__float__"):
        raise Fault("reward_invalid", f"it returned {'None' if value is None else type(value).__name__}, not a number")
    try:
        number = float(value)
    except Exception as error:
        raise Fault("reward_invalid", f"what it returned is no number: {describe(error)}")
    if not math.isfinite(number):
        raise Fault("reward_invalid", f"it returned {number}, which is no finite number")
    return number


def read_requests(host, loop):
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except Exception:
            # Nested too deep for Python: it ends, so that whoever asked need not wait for an answer.
            traceback.print_exc(limit=1)
            os._exit(1)
        loop.call_soon_threadsafe(lambda each=request: KEPT.add(loop.create_task(host.answer(each))))
    # The trainer is gone, or has no more use for it.
    os._exit(0)


# A loop keeps only weak references to its tasks.
KEPT = set()


async def main():
    end_with_parent(int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid())
    sys.path.insert(0, HERE)
    loop = asyncio.get_running_loop()
    host = Host(loop)
    threading.Thread(target=read_requests, args=(host, loop), daemon=True).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
