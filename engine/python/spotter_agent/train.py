"""A training job from its spec to its outcome: files, engine, steps, checkpoints."""

import threading
import time
from pathlib import Path
from typing import Dict, List, Optional

from . import slime_data
from .classify import cause_of_end
from .client import JobClient
from .cluster import Cluster
from .convert_model import ModelConversion
from .engine_process import EngineProcess
from .engines import slime, slime_checkpoint
from .errors import JobError, Lost, Stale, Stopped
from .log import Log
from .metrics import Metrics
from .nodes import Place
from .options import Options
from .overlay import run_overlay
from .places import fetch_model_files, places_of
from .plan import engine_environment, fill, write_files
from .saver import Saver
from .start import Start, fetch_start

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
        # Started before the engine, such as Ray: they end with the job and not before.
        self._helpers: List[EngineProcess] = []
        self._metrics: Optional[Metrics] = None
        self._lock = threading.Lock()
        self._phase = ""
        self._phase_at = 0.0
        self._node_lost: Optional[JobError] = None
        self._cluster: Optional[Cluster] = None
        self._inherited_steps = int(self._native.get("startedSteps", 0))
        self._start = Start()

    def node_lost(self, error: JobError) -> None:
        """Another host of this job is gone: the engine cannot go on, and would wait for it."""
        self._node_lost = error

    def ready(self) -> Dict[str, str]:
        """Everything that a host needs before its part of the engine starts; the environment of that."""
        self._prepare()
        env = engine_environment(self._native.get("env", {}), self._places)
        overlay = self._native.get("overlay", [])
        run_overlay(overlay, env, self._work_dir, self._log.info, self._options.overlay_marks_dir)
        self._convert_model(self._places, env)
        return env

    def run(self, cluster: Optional[Cluster] = None) -> str:
        try:
            env = self.ready()
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
                self._run_to_end([fill(word, self._places) for word in command], env)
            argv = [fill(word, self._places) for word in self._native["argv"]]
            if not self._start.has_optimizer and slime.WITHOUT_OPTIMIZER not in argv:
                argv.append(slime.WITHOUT_OPTIMIZER)
            self._log.info("engine: " + " ".join(argv))
            return self._train(argv, env)
        finally:
            for helper in self._helpers:
                helper.close()

    def _prepare(self) -> None:
        """Fetches what the job names and writes the engine's own files."""
        job = self._client.job
        self._phase_changed("download-model")
        fetch_model_files(self._client, self._work_dir, self._options)
        self._save.mkdir(parents=True, exist_ok=True)
        self._start = fetch_start(self._client, self._log, self._work_dir, self._inherited_steps)
        self._phase_changed("prepare-dataset")
        for name in ("dataset", "evalDataset"):
            if name in job:
                self._client.download(job[name], self._work_dir / "datasets" / f"{name}.jsonl")
        if self._native["engine"] == "slime":
            self._prepare_slime(job)
        self._places = places_of(job, self._work_dir, self._options, self._client.token)
        write_files(self._native.get("files", []), self._places, self._work_dir)
        if Place().count > 1:
            slime_checkpoint.make_folders(self._save, self._native["argv"])

    @property
    def _steps(self) -> int:
        """Steps of this run alone."""
        return int(self._client.job["spec"]["trainer"]["steps"])

    @property
    def _save(self) -> Path:
        return self._work_dir / "save"

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

    def _convert_model(self, places: Dict[str, str], env: Dict[str, str]) -> None:
        argv = self._native.get("conversions", {}).get("toMegatron")
        if argv is None or (self._start.made_steps > 0 and not slime.has_reference(self._native["argv"])):
            return
        self._phase_changed("convert-model")
        ModelConversion(self._client, self._log, argv, places, env, self._is_over).get()

    def _train(self, argv: List[str], env: Dict[str, str]) -> str:
        inherited_steps = self._inherited_steps
        metrics = Metrics(self._client, self._log, self._work_dir, inherited_steps, self._steps, argv, env)
        self._metrics = metrics
        saver = Saver(
            self._client,
            self._log,
            self._save,
            inherited_steps,
            max(0, self._start.made_steps - inherited_steps),
            self._steps,
            metrics.of,
            has_weights=slime.SAVES_WEIGHTS in argv,
            has_state=slime.keeps_dataset_state(argv),
            gather=None if self._cluster is None else self._cluster.gather,
            every_s=self._options.poll_s,
        )
        self._engine = EngineProcess(argv, env, self._work_dir, self._line)
        saver.start()
        try:
            return self._watch(self._engine, saver, metrics)
        finally:
            self._engine.close()

    def _watch(self, engine: EngineProcess, saver: Saver, metrics: Metrics) -> str:
        stopping_since: Optional[float] = None
        while True:
            code = engine.wait(self._options.poll_s)
            if self._client.ended.is_set():
                raise self._client.end or Stopped()
            if code is not None:
                return self._ended(engine, saver, metrics, code, stopping_since is not None)
            metrics.look()
            if self._node_lost is not None:
                engine.close()
                metrics.look(is_over=True)
                self._store_rest(saver)
                raise self._node_lost
            if self._cluster is not None:
                self._cluster.check()
            if saver.error is not None:
                raise saver.error
            if self._client.cancelled.is_set() and stopping_since is None:
                self._log.info("asked to stop: the engine has a moment to save")
                stopping_since = time.monotonic()
                engine.terminate()
            if stopping_since is not None and time.monotonic() - stopping_since > self._options.grace_s:
                engine.close()
                metrics.look(is_over=True)
                saver.finish()
                return "cancelled"

    def _ended(self, engine: EngineProcess, saver: Saver, metrics: Metrics, code: int, is_stopping: bool) -> str:
        # What it left behind, if anything, must not write any more while its checkpoints and metrics are read.
        engine.close()
        metrics.look(is_over=True)
        self._phase_changed("save-checkpoint")
        if code != 0 and not is_stopping:
            self._store_rest(saver)
            raise cause_of_end(code, engine.tail(), has_worked=metrics.has_any)
        saver.finish()
        if is_stopping:
            return "cancelled"
        if saver.newest >= self._steps:
            return "succeeded"
        raise JobError(
            "engine_failed",
            f"The engine ended without an error after step {saver.newest} of {self._steps}.",
            hint="Its last lines are in the log.",
        )

    def _store_rest(self, saver: Saver) -> None:
        """After a failure, which is what is told, whatever else goes wrong."""
        try:
            saver.finish()
        except (Lost, Stale):
            raise
        except JobError as error:
            self._log.warn(f"the last checkpoint could not be stored: {error.message}")

    def _line(self, line: str) -> None:
        self._log.info(line)
        told = slime.read_line(line)
        if told is None:
            return
        if told.phase is not None:
            self._phase_changed(told.phase)
        if self._metrics is not None:
            self._metrics.line(told)

    def _phase_changed(self, phase: str) -> None:
        now = time.monotonic()
        self._client.set_progress(phase=phase)
        with self._lock:
            if phase == self._phase or (now - self._phase_at < QUIET_S and self._engine is not None):
                return
            self._phase = phase
            self._phase_at = now
        self._client.run_event({"type": "phase", "phase": phase})

    def _is_over(self) -> bool:
        """Nothing is to be waited for any more."""
        return self._node_lost is not None or self._client.cancelled.is_set() or self._client.ended.is_set()

    def _run_to_end(self, argv: List[str], env: Dict[str, str]) -> None:
        """A step before the training. What it leaves running stays until the job ends."""
        self._log.info("before: " + " ".join(argv))
        process = EngineProcess(argv, env, self._work_dir, self._log.info)
        self._helpers.append(process)
        code = process.wait(0.0)
        while code is None:
            if self._client.ended.is_set():
                raise self._client.end or Stopped()
            if self._client.cancelled.is_set():
                raise Stopped()
            code = process.wait(self._options.poll_s)
        if code != 0:
            process.drain()
            raise cause_of_end(code, process.tail())
