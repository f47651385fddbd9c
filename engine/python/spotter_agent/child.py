"""A further host of a job: made ready like the main one, it does what the engine there asks of it through Ray."""

import signal
import threading
import time
from pathlib import Path
from typing import Any, Dict, Optional

from .client import JobClient
from .cluster import FILES_NONCE, ray_start
from .engine_process import EngineProcess
from .errors import JobError, Stopped
from .log import Log, redactor, secrets_of
from .node_files import FileServer
from .nodes import Main, Place, proof
from .options import Options
from .train import TrainWork

DONE, FAILED = 0, 1


class QuietClient(JobClient):
    """Fetches the job and its files. The main node speaks for all: this one reports nothing and does not beat."""

    def report(self, body: Dict[str, Any]) -> None:
        pass

    def start_heartbeats(self) -> None:
        pass

    def keep_conversion(self, key: str, files: Dict[str, Path]) -> None:
        """The main node keeps its own, which is the same."""


class Child:
    def __init__(self, env: Dict[str, str], place: Place, options: Options) -> None:
        self._place = place
        self._options = options
        self._token = env["SPOTTER_JOB_TOKEN"]
        self._work_dir = Path(env["SPOTTER_WORK_DIR"])
        self._lost: Optional[JobError] = None
        self._stopping = threading.Event()
        self._log = Log()
        self._client = QuietClient(
            env["SPOTTER_URL"], env["SPOTTER_JOB_ID"], self._token, options.give_up_after_s, options.speed
        )

    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stopping.set())
        rank = self._place.rank
        files = FileServer(self._work_dir / "save", proof(self._token, FILES_NONCE, rank))
        try:
            main = Main(
                self._place.main_host,
                rank,
                self._token,
                self._gone,
                self._options.nodes_port,
                every_s=self._options.nodes_beat_s,
                files_port=files.port,
                is_over=self._stopping.is_set,
            )
            code = self._work(main)
            if self._lost is not None:
                raise self._lost
            if code not in (None, 0):
                # Its connection breaks with it, which is how the main node knows.
                raise JobError("engine_failed", f"Ray ended on node {rank} with exit code {code}.")
            main.close()
            return DONE
        except (JobError, OSError) as error:
            self._log.error(str(error))
            return FAILED
        except Stopped:
            return DONE
        finally:
            files.close()
            self._client.close()

    def _work(self, main: Main) -> Optional[int]:
        job = self._client.get_job()
        self._log.redact_with(redactor(secrets_of(job, self._token)))
        env = TrainWork(self._client, self._log, self._work_dir, self._options).ready()
        while not main.has_head.wait(min(0.5, self._options.poll_s)):
            if self._lost is not None or self._stopping.is_set() or main.is_done.is_set():
                return None
        head = f"{self._place.main_host}:{self._options.ray_port}"
        ray = EngineProcess(ray_start(head, is_head=False), env, self._work_dir, self._log.info)
        main.up()
        until: Optional[float] = None
        try:
            while self._lost is None and ray.wait(min(0.5, self._options.poll_s)) is None:
                if main.is_done.is_set():
                    return None
                # The main node was asked to stop as well, and saves with what runs here.
                if self._stopping.is_set() and until is None:
                    until = time.monotonic() + self._options.grace_s
                if until is not None and time.monotonic() > until:
                    return None
            # With the head gone Ray ends here too, and in no good way.
            return None if main.is_done.is_set() else ray.poll()
        finally:
            ray.close(grace_s=5.0)

    def _gone(self, error: JobError) -> None:
        self._lost = error
        # A download ends with it.
        self._client.ended.set()
