"""Everything a container says to the control plane and asks of it, for one job."""

import threading
import urllib.parse
from pathlib import Path
from typing import Any, Dict, List, Optional

from .checkpoint import publish, upload_checkpoint
from .errors import JobError, Lost, Stale
from .events import EventQueue
from .files import download
from .heartbeat import Heartbeat
from .transport import Transport

# Versions of the job protocol this agent speaks; the control plane answers with its own.
PROTOCOL = 1


class JobClient:
    """``cancelled`` is set when the control plane or a signal asks to stop: finish safely, then :meth:`exit`.
    ``ended`` is set when nothing can be said any more; :attr:`end` tells why.
    """

    def __init__(
        self,
        url: str,
        job_id: str,
        token: str,
        give_up_after_s: float = 600.0,
        speed: float = 1.0,
    ) -> None:
        self.cancelled = threading.Event()
        self.ended = threading.Event()
        self.end: Optional[JobError] = None
        self.token = token
        self._path = f"jobs/{urllib.parse.quote(job_id, safe='')}"
        self.transport = Transport(url, token, self.ended, give_up_after_s, speed)
        self.job: Dict[str, Any] = {}
        self._events: Optional[EventQueue] = None
        self._heartbeat: Optional[Heartbeat] = None

    @property
    def attempt(self) -> int:
        return int(self.job["attempt"])

    def get_job(self) -> Dict[str, Any]:
        """Fetches the job and checks the protocol; the first call to make."""
        job = self.transport.json(self._path)
        protocol = job.get("protocol") if isinstance(job, dict) else None
        if protocol != PROTOCOL:
            raise JobError(
                "version_mismatch",
                f"The control plane speaks job protocol {protocol}, this container speaks {PROTOCOL}.",
                hint="Run both from the same version of Spotter.",
            )
        self.job = job
        self._events = EventQueue(self._send, self.ended, self._failed)
        return job

    def start_heartbeats(self) -> None:
        every_s = self.job["heartbeatEveryMs"] / 1000
        self._heartbeat = Heartbeat(every_s, self._beat, self.cancelled.set, self._failed)
        self._heartbeat.start()

    def set_progress(self, phase: Optional[str] = None, step: Optional[int] = None) -> None:
        """What the next heartbeats say."""
        if self._heartbeat is not None:
            self._heartbeat.set_progress(phase, step)

    def report(self, body: Dict[str, Any]) -> None:
        """Queues an event; order is kept, delivery is exactly once."""
        if self._events is not None:
            self._events.push(body)

    def run_event(self, event: Dict[str, Any]) -> None:
        self.report({"type": "run", "event": event})

    def log(self, level: str, message: str) -> None:
        self.report({"type": "log", "level": level, "message": message})

    def judge(self, rows: List[Dict[str, Any]], timeout_s: float = 300.0) -> List[Dict[str, Any]]:
        """One verdict a row, in order, by the run's TypeScript rewards."""
        if not rows:
            return []
        body = {"attempt": self.attempt, "rows": rows}
        verdicts = self.transport.json(f"{self._path}/rewards", body, timeout_s=timeout_s)["verdicts"]
        if len(verdicts) != len(rows):
            raise JobError("reward_invalid", f"Judged {len(rows)} rows, got {len(verdicts)} verdicts.")
        return verdicts

    def call_tools(self, calls: List[Dict[str, Any]], timeout_s: float = 300.0) -> List[Dict[str, Any]]:
        """One result a call, in order."""
        if not calls:
            return []
        body = {"attempt": self.attempt, "calls": calls}
        return self.transport.json(f"{self._path}/tools", body, timeout_s=timeout_s)["results"]

    def put_rollouts(self, step: int, rollouts: List[Dict[str, Any]]) -> None:
        """All rollouts of a step; repeating a step replaces it."""
        body = {"attempt": self.attempt, "step": step, "rollouts": rollouts}
        self.transport.json(f"{self._path}/rollouts", body, timeout_s=120.0)

    def get_adapter(self, checkpoint: str) -> Dict[str, Any]:
        """The files of a LoRA checkpoint ``run@step`` of the model that this job serves."""
        return self.transport.json(f"{self._path}/adapters/{urllib.parse.quote(checkpoint, safe='')}")

    def download(self, file: Dict[str, Any], to: Path) -> None:
        download(self.transport, file, to)

    def upload_checkpoint(
        self, step: int, kind: str, files: Dict[str, Path], metrics: Optional[Dict[str, float]] = None
    ) -> Dict[str, Any]:
        """``files``, by their stored paths, become the checkpoint of this step; it exists when this returns."""
        return upload_checkpoint(self.transport, self._path, self.attempt, step, kind, files, metrics)

    def find_conversion(self, key: str) -> Optional[List[Dict[str, Any]]]:
        """The files of weights that were converted before; None where there are none under this key."""
        try:
            return self.transport.json(f"{self._path}/conversions/{key}")["files"]
        except JobError as error:
            if error.code == "not_found":
                return None
            raise

    def keep_conversion(self, key: str, files: Dict[str, Path]) -> None:
        """Stores converted weights for whoever asks for this key next."""
        path = f"{self._path}/conversions/{key}"
        publish(self.transport, path, {"attempt": self.attempt}, f"{path}/complete", files)

    def ask_teacher(self, question: Dict[str, Any], timeout_s: float = 300.0) -> Dict[str, Any]:
        """{"sequences": [...]}, or {"waiting": why} from a teacher that is not up yet or busy."""
        body = {"attempt": self.attempt, "question": question}
        return self.transport.json(f"{self._path}/teacher", body, timeout_s=timeout_s)

    def exit(self, outcome: str, failure: Optional[Dict[str, Any]] = None) -> None:
        """The last word: everything queued, then how the work ended."""
        body: Dict[str, Any] = {"type": "exit", "outcome": outcome}
        if failure is not None:
            body["failure"] = failure
        self.report(body)
        if self._events is not None:
            self._events.flush()
        self.stop_beating()

    def stop_beating(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()

    def close(self) -> None:
        """Ends what is under way without another word."""
        self.stop_beating()
        if self._events is not None:
            self._events.close()
        self.ended.set()

    def _send(self, events: List[dict]) -> int:
        answer = self.transport.json(f"{self._path}/events", {"attempt": self.attempt, "events": events})
        return int(answer["acknowledged"])

    def _beat(self, progress: Dict) -> bool:
        body = {"attempt": self.attempt, **progress}
        return bool(self.transport.json(f"{self._path}/heartbeat", body, timeout_s=15.0)["cancel"])

    def _failed(self, error: Exception) -> None:
        if self.end is None:
            coded = error if isinstance(error, JobError) else JobError("internal", str(error))
            self.end = coded if isinstance(coded, (Lost, Stale)) else Lost(coded.code, coded.message, coded.hint)
        self.ended.set()
