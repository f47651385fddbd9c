"""A training job from its spec to its outcome: files, engine, steps, checkpoints."""

import threading
import time
from pathlib import Path
from typing import Dict, List, Optional, Set

from . import slime_data
from .classify import cause_of_end
from .client import JobClient
from .cluster import Cluster
from .engine_process import EngineProcess
from .engines import slime
from .errors import JobError, Stopped
from .log import Log
from .nodes import Place
from .options import Options
from .overlay import run_overlay
from .places import fetch_model_files, places_of
from .plan import engine_environment, fill, write_files

# Phases that come by several times a second: at most one leaves in this time.
QUIET_S = 0.4


class TrainWork:
    """Owns the engine and whatever it writes. :meth:`run` returns the outcome, or raises what went wrong."""

    def __init__(self, client: JobClient, log: Log, work_dir: Path, options: Options) -> None:
        self._client = client
        self._log = log
        self._work_dir = work_dir
        self._options = options
        self._native = client.job["native"]
        self._engine: Optional[EngineProcess] = None
        self._metrics: Dict[int, Dict[str, float]] = {}
        self._uploaded: Set[int] = set()
        self._lock = threading.Lock()
        self._phase = ""
        self._phase_at = 0.0
        self._node_lost: Optional[JobError] = None
        self._cluster: Optional[Cluster] = None
        self._inherited_steps = int(self._native.get("startedSteps", 0))

    def node_lost(self, error: JobError) -> None:
        """Another host of this job is gone: the engine cannot go on, and would wait for it."""
        self._node_lost = error

    def ready(self) -> Dict[str, str]:
        """Everything that a host needs before its part of the engine starts; the environment of that."""
        self.prepare()
        env = engine_environment(self._native.get("env", {}), self._places)
        overlay = self._native.get("overlay", [])
        run_overlay(overlay, env, self._work_dir, self._log.info, self._options.overlay_marks_dir)
        return env

    def run(self, cluster: Optional[Cluster] = None) -> str:
        env = self.ready()
        places = self._places
        if cluster is not None:
            self._cluster = cluster
            cluster.start(env, self._is_over, self._options.poll_s)
            env = {**env, **cluster.environment()}
        if self._node_lost is not None:
            raise self._node_lost
        if self._client.ended.is_set():
            raise self._client.end or Stopped()
        if self._client.cancelled.is_set():
            return "cancelled"
        for command in self._native.get("before", []):
            self._run_to_end([fill(word, places) for word in command], env)
        argv = [fill(word, places) for word in self._native["argv"]]
        self._log.info("engine: " + " ".join(argv))
        self._engine = EngineProcess(argv, env, self._work_dir, self._line)
        try:
            return self._watch(self._engine)
        finally:
            self._engine.close()

    def prepare(self) -> None:
        """Fetches what the job names and writes the engine's own files."""
        job = self._client.job
        self._phase_changed("download-model")
        fetch_model_files(self._client, self._work_dir, self._options)
        start = job.get("resume") or job.get("start")
        save = self._work_dir / "save"
        save.mkdir(parents=True, exist_ok=True)
        if start is not None:
            self._restore(start, save)
        self._phase_changed("prepare-dataset")
        for name in ("dataset", "evalDataset"):
            if name in job:
                self._client.download(job[name], self._work_dir / "datasets" / f"{name}.jsonl")
        if self._native["engine"] == "slime":
            self._prepare_slime(job)
        self._places = places_of(job, self._work_dir, self._options, self._client.token)
        write_files(self._native.get("files", []), self._places, self._work_dir)
        if Place().count > 1:
            slime.make_folders(save, self._native["argv"])

    def _prepare_slime(self, job: Dict) -> None:
        tools = job.get("tools") or []
        for name in ("dataset", "evalDataset"):
            source = self._work_dir / "datasets" / f"{name}.jsonl"
            if source.exists():
                slime_data.write_rows(source, source.with_suffix(".slime.jsonl"), job["spec"]["kind"], tools)
        python = job.get("python")
        if python is not None:
            bundle = self._work_dir / "python.json"
            self._client.download(python["code"], bundle)
            slime_data.unpack_python(bundle, self._work_dir / "python")
        slime_data.write_setup(job, self._work_dir)

    def _restore(self, start: Dict, save: Path) -> None:
        for file in start["files"]:
            kind, _, rest = file["path"].partition("/")
            if kind == "trainer":
                self._client.download(file, save / rest)
            elif kind == "model":
                self._client.download(file, self._work_dir / "start" / rest)
        is_resume = self._client.job.get("resume") is not None
        made = self._inherited_steps + (start["step"] if is_resume else 0)
        if made > 0 and (save / f"iter_{made - 1:07d}").is_dir():
            slime.restore(save, made)
        elif made > 0:
            words = f"Checkpoint {start['id']} has no state of step {made} of this engine."
            raise JobError("checkpoint_mismatch", words, hint='Start from its weights: mode "weights".')
        if is_resume:
            self._uploaded.update(range(start["step"] + 1))

    def _watch(self, engine: EngineProcess) -> str:
        stopping_since: Optional[float] = None
        while True:
            code = engine.wait(self._options.poll_s)
            if self._client.ended.is_set():
                raise self._client.end or Stopped()
            self._save_new()
            if code is not None:
                return self._ended(engine, code, stopping_since is not None)
            if self._node_lost is not None:
                raise self._node_lost
            if self._cluster is not None:
                self._cluster.check()
            if self._client.cancelled.is_set() and stopping_since is None:
                self._log.info("asked to stop: the engine has a moment to save")
                stopping_since = time.monotonic()
                engine.terminate()
            if stopping_since is not None and time.monotonic() - stopping_since > self._options.grace_s:
                engine.close()
                self._save_new()
                return "cancelled"

    def _ended(self, engine: EngineProcess, code: int, is_stopping: bool) -> str:
        engine.drain()
        self._save_new(is_last=True)
        if is_stopping:
            return "cancelled"
        if code != 0:
            raise cause_of_end(code, engine.tail(), has_worked=bool(self._metrics))
        wanted = self._client.job["spec"]["trainer"]["steps"]
        if self._uploaded and max(self._uploaded) >= wanted:
            return "succeeded"
        raise JobError(
            "engine_failed",
            f"The engine ended without an error after step {max(self._uploaded, default=0)} of {wanted}.",
            hint="Its last lines are in the log.",
        )

    def _is_over(self) -> bool:
        """Nothing is to be waited for any more."""
        return self._node_lost is not None or self._client.cancelled.is_set() or self._client.ended.is_set()

    def _whole_steps(self, save: Path, is_last: bool) -> List[int]:
        """Steps whose checkpoint is here and whole; with several hosts it is brought here first."""
        parts = slime.parts_of(self._native["argv"])
        if self._cluster is None:
            return slime.complete_steps(save, parts)
        try:
            gathered = self._cluster.gather(save)
        except JobError as error:
            if is_last:
                raise
            # A host that is gone tells by its connection; any other is asked again.
            self._log.warn(error.message)
            return []
        return [step for step in slime.complete_steps(save, parts) if step - 1 <= gathered]

    def _save_new(self, is_last: bool = False) -> None:
        """Uploads every checkpoint that is whole by now, oldest first."""
        save = self._work_dir / "save"
        for step in self._whole_steps(save, is_last):
            own = step - self._inherited_steps
            if own in self._uploaded or own < 1:
                continue
            before = self._phase
            self._phase_changed("save-checkpoint")
            files = slime.checkpoint_files(save, step)
            with self._lock:
                metrics = dict(self._metrics.get(own, {}))
            self._client.upload_checkpoint(own, "full", files, metrics)
            self._uploaded.add(own)
            self._log.info(f"checkpoint {own} is stored")
            if before:
                self._phase_changed(before)

    def _line(self, line: str) -> None:
        self._log.info(line)
        told = slime.read_line(line)
        if told is None:
            return
        if told.phase is not None:
            self._phase_changed(told.phase)
        if told.metrics is not None and told.step is not None:
            self._numbers(told.step - self._inherited_steps, told)

    def _numbers(self, step: int, told: slime.Told) -> None:
        assert told.metrics is not None
        metrics = {f"eval/{name}" if told.is_eval else name: value for name, value in told.metrics.items()}
        with self._lock:
            self._metrics.setdefault(step, {}).update(metrics)
        if told.is_step_done:
            self._client.set_progress(step=step)
        self._client.run_event({"type": "metrics", "step": max(0, step), "metrics": metrics})

    def _phase_changed(self, phase: str) -> None:
        now = time.monotonic()
        self._client.set_progress(phase=phase)
        with self._lock:
            if phase == self._phase or (now - self._phase_at < QUIET_S and self._engine is not None):
                return
            self._phase = phase
            self._phase_at = now
        self._client.run_event({"type": "phase", "phase": phase})

    def _run_to_end(self, argv: List[str], env: Dict[str, str]) -> None:
        """A step before the training, such as a conversion of weights."""
        self._log.info("before: " + " ".join(argv))
        process = EngineProcess(argv, env, self._work_dir, self._log.info)
        try:
            while (code := process.wait(self._options.poll_s)) is None:
                if self._client.ended.is_set():
                    raise self._client.end or Stopped()
                if self._client.cancelled.is_set():
                    raise Stopped()
            process.drain()
            if code != 0:
                raise cause_of_end(code, process.tail())
        finally:
            process.close()
