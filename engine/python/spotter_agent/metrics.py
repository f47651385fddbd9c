"""The numbers of a run: from the engine's log lines as they come, and from its metric files."""

import os
import threading
from pathlib import Path
from typing import Dict, List, Tuple

from .client import JobClient
from .engines import slime
from .engines.slime_steps import OF_OPTIMIZER, SlimeSteps
from .log import Log
from .metric_files import MetricFiles
from .metric_merge import MetricMerge
from .metric_number import Number

# Where TensorBoard's writers write; a plan sets it where the user turns them on.
TENSORBOARD_DIR = "TENSORBOARD_DIR"
# An event is stored in one item of limited size.
MAX_NAMES = 200


class Metrics:
    """Tells the control plane, and remembers each step for its checkpoint.

    Steps of slime up to ``inherited_steps`` are of earlier runs; what is beyond ``last_step`` is none of this run's.
    """

    def __init__(
        self,
        client: JobClient,
        log: Log,
        work_dir: Path,
        inherited_steps: int,
        last_step: int,
        argv: List[str],
        env: Dict[str, str],
    ) -> None:
        self._client = client
        self._inherited_steps = inherited_steps
        self._last_step = last_step
        self._argv = argv
        folders = [metrics_dir(work_dir)]
        folders[0].mkdir(parents=True, exist_ok=True)
        if slime.WRITES_EVENTS in argv and env.get(TENSORBOARD_DIR):
            folders.append(Path(os.path.normpath(work_dir / env[TENSORBOARD_DIR])))
        self._files = MetricFiles(folders, log.warn)
        self._counts: Dict[Path, SlimeSteps] = {}
        # Steps of the optimizer and rollouts have numbers of their own.
        self._merges = {True: MetricMerge(), False: MetricMerge()}
        self._steps: Dict[int, Dict[str, float]] = {}
        self._newest = 0
        # The rollout whose samples are being learnt, as slime counts them from 1; 0 before the first.
        self._learning = 0
        # Lines are read on one thread, files on two others.
        self._lock = threading.RLock()

    @property
    def has_any(self) -> bool:
        return bool(self._steps)

    def line(self, told: slime.Told) -> None:
        if told.values is None or told.step is None:
            return
        with self._lock:
            if told.is_rollout:
                self._learning = told.step
            is_learnt = told.is_optimizer_step and self._learning > 0
            step = self._learning if is_learnt else told.step
            news = self._merges[told.is_optimizer_step].line(told.step - 1, told.values)
            self._tell(step - self._inherited_steps, news, is_done=told.is_optimizer_step)

    def look(self, is_over: bool = False) -> None:
        """Tells what the files have grown by. ``is_over``: the engine writes no more."""
        with self._lock:
            for path, numbers in self._files.look(is_over):
                self._tell_file(self._counts.setdefault(path, SlimeSteps(self._argv)), numbers)

    def of(self, step: int) -> Dict[str, float]:
        """All that is known of a step by now."""
        self.look()
        with self._lock:
            return dict(self._steps.get(step, {}))

    def _tell_file(self, counts: SlimeSteps, numbers: List[Number]) -> None:
        # Steps of the optimizer are told one by one, as the lines tell them.
        news: Dict[Tuple[int, int, bool], Dict[str, float]] = {}
        for number in numbers:
            is_done = number.tag.startswith(OF_OPTIMIZER)
            rollout = counts.rollout(number.tag, number.step)
            counted = number.step if is_done else rollout
            if slime.number(number.value) is None or not self._merges[is_done].file(number._replace(step=counted)):
                continue
            key = (rollout + 1 - self._inherited_steps, counted, is_done)
            told = news.setdefault(key, {})
            if len(told) >= MAX_NAMES:
                self._tell(key[0], news.pop(key), is_done)
                told = news.setdefault(key, {})
            told[number.tag] = number.value
        for (step, _, is_done), values in news.items():
            self._tell(step, values, is_done)

    def _tell(self, step: int, values: Dict[str, float], is_done: bool) -> None:
        # A step that the run has not is none of its own.
        if not 0 <= step <= self._last_step:
            return
        is_late = step < self._newest
        if is_done and not is_late:
            self._client.set_progress(step=step)
        if not values:
            return
        metrics = {slime.own_name(tag): value for tag, value in values.items()}
        self._steps.setdefault(step, {}).update(metrics)
        self._newest = max(self._newest, step)
        late = {"late": True} if is_late else {}
        self._client.run_event({"type": "metrics", "step": step, "metrics": metrics, **late})


def metrics_dir(work_dir: Path) -> Path:
    return work_dir / "metrics"
