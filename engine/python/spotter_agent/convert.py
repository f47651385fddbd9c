"""A job that converts weights and does nothing else: on one host, before the run that needs them has any."""

from pathlib import Path

from .client import JobClient
from .convert_model import ModelConversion
from .log import Log
from .options import Options
from .overlay import run_overlay
from .places import fetch_model_files, places_of
from .plan import engine_environment
from .start import fetch


class ConvertWork:
    def __init__(self, client: JobClient, log: Log, work_dir: Path, options: Options) -> None:
        self._client = client
        self._log = log
        self._work_dir = work_dir
        self._options = options

    def run(self) -> str:
        job, native = self._client.job, self._client.job["native"]
        self._client.set_progress(phase="convert-model")
        fetch_model_files(self._client, self._work_dir, self._options)
        if "start" in job:
            fetch(self._client, job["start"], "model", self._work_dir / "start")
        places = places_of(job, self._work_dir, self._options, self._client.token)
        env = engine_environment(native.get("env", {}), places)
        marks = self._options.overlay_marks_dir
        run_overlay(native.get("overlay", []), env, self._work_dir, self._log.info, marks)
        argv = native["conversions"]["toMegatron"]
        pause_s = self._options.conversion_pause_s
        ModelConversion(self._client, self._log, argv, places, env, self._is_over, pause_s).keep()
        return "succeeded"

    def _is_over(self) -> bool:
        return self._client.cancelled.is_set() or self._client.ended.is_set()
