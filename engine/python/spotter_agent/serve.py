"""A replica: the engine's own OpenAI server, ready when it has answered."""

import json
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Dict, Optional

from .classify import cause_of_end
from .client import JobClient
from .engine_process import EngineProcess
from .engines import vllm
from .errors import JobError, Stopped
from .log import Log
from .nodes import own_address
from .options import Options
from .overlay import run_overlay
from .places import fetch_model_files, places_of
from .plan import engine_environment, fill, write_files

PROBE_TIMEOUT_S = 10.0
# The first token compiles what was not compiled before.
WARM_UP_TIMEOUT_S = 300.0


class ServeWork:
    """Owns the engine. :meth:`run` serves until it is asked to stop, or raises what went wrong."""

    def __init__(self, client: JobClient, log: Log, work_dir: Path, options: Options) -> None:
        self._client = client
        self._log = log
        self._work_dir = work_dir
        self._options = options
        self._native: Dict[str, Any] = client.job["native"]
        self._phase = ""

    def run(self) -> str:
        job = self._client.job
        self._told("download-model")
        fetch_model_files(self._client, self._work_dir, self._options)
        for file in job.get("checkpoint", {}).get("files", []):
            path = file["path"].split("/", 1)[-1]
            self._client.download(file, self._work_dir / "checkpoint" / path)
        port = free_port(self._options.host)
        places = {
            **places_of(job, self._work_dir, self._options, self._client.token),
            "port": str(port),
            "accessKey": job.get("accessKey", ""),
            "spotterUrl": self._client.transport.base,
        }
        write_files(self._native.get("files", []), places, self._work_dir)
        env = engine_environment(self._native.get("env", {}), places)
        overlay = self._native.get("overlay", [])
        run_overlay(overlay, env, self._work_dir, self._log.info, self._options.overlay_marks_dir)
        argv = [fill(word, places) for word in self._native["argv"]]
        # The access key is in the environment, never in what `ps` shows.
        self._log.info("engine: " + " ".join(argv))
        engine = EngineProcess(argv, env, self._work_dir, self._line)
        try:
            self._await_ready(engine, port)
            address = self._options.address or own_address()
            self._client.report({"type": "ready", "address": f"{address}:{port}"})
            return self._watch(engine)
        finally:
            engine.close(grace_s=min(10.0, self._options.grace_s))

    def _await_ready(self, engine: EngineProcess, port: int) -> None:
        until = time.monotonic() + self._options.ready_within_s
        base = f"http://127.0.0.1:{port}"
        while not self._answers(f"{base}/health"):
            self._still_up(engine)
            if time.monotonic() > until:
                raise cause_of_end(None, engine.tail())
            # Whoever asks it to stop is heard at once, however long a model loads.
            self._client.cancelled.wait(min(1.0, self._options.poll_s))
        name = first_model(self._ask(f"{base}/v1/models"))
        self._told("warm-up")
        body = {"model": name, "prompt": "Hi", "max_tokens": 1, "temperature": 0}
        self._ask(f"{base}/v1/completions", body, WARM_UP_TIMEOUT_S)
        self._still_up(engine)

    def _watch(self, engine: EngineProcess) -> str:
        while True:
            code = engine.wait(min(0.5, self._options.poll_s))
            if self._client.cancelled.is_set():
                return "cancelled"
            self._still_up(engine, code)

    def _still_up(self, engine: EngineProcess, code: Optional[int] = None) -> None:
        if self._client.ended.is_set():
            raise self._client.end or Stopped()
        if self._client.cancelled.is_set():
            raise Stopped()
        ended = code if code is not None else engine.poll()
        if ended is None:
            return
        engine.drain()
        raise cause_of_end(ended, engine.tail())

    def _answers(self, url: str) -> bool:
        try:
            with urllib.request.urlopen(self._request(url), timeout=PROBE_TIMEOUT_S) as response:
                return bool(response.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def _ask(self, url: str, body: Optional[Dict] = None, timeout_s: float = PROBE_TIMEOUT_S) -> Any:
        try:
            with urllib.request.urlopen(self._request(url, body), timeout=timeout_s) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            text = error.read().decode("utf-8", "replace")[:300]
            raise JobError("engine_failed", f"The engine answered its first request with {error.code}: {text}") from error
        except (OSError, ValueError) as error:
            raise JobError("engine_failed", f"The engine did not answer its first request: {error}") from error

    def _request(self, url: str, body: Optional[Dict] = None) -> urllib.request.Request:
        headers = {"content-type": "application/json"}
        key = self._client.job.get("accessKey")
        if key:
            headers["authorization"] = f"Bearer {key}"
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.Request(url, data=data, headers=headers)

    def _line(self, line: str) -> None:
        self._log.info(line)
        phase = vllm.phase_of(line)
        if phase is not None:
            self._told(phase)

    def _told(self, phase: str) -> None:
        if phase != self._phase:
            self._phase = phase
            self._client.set_progress(phase=phase)
            self._log.info(f"phase: {phase}")


def first_model(listed: Any) -> str:
    """The name that the engine serves under, out of its own list of models."""
    try:
        return str(listed["data"][0]["id"])
    except (KeyError, IndexError, TypeError) as error:
        raise JobError("engine_failed", f"The engine lists no model: {json.dumps(listed)[:300]}") from error


def free_port(host: str) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
