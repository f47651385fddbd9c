"""Brings checkpoints home while the training goes on: an upload may take as long as several steps."""

import threading
from pathlib import Path
from typing import Callable, Dict, List, Optional

from .client import JobClient
from .engines import slime_checkpoint as slime
from .errors import JobError
from .log import Log


class Saver:
    """Looks every ``every_s`` for checkpoints that are whole, and stores them, oldest first.

    Steps of slime up to ``inherited_steps`` are of earlier runs; of this run's own, the first ``finished_steps`` are
    stored. ``metrics_of`` gives the numbers of a step. ``has_weights``: slime writes Hugging Face weights too, and is
    waited for while it does. A checkpoint that has none in the end is stored without: another job makes them of its
    state. What is beyond ``last_step`` is none of the run's. ``has_state``: slime writes down where its dataset stands.
    ``gather`` brings here what other hosts have written, and tells the last iteration that all of them have.
    """

    def __init__(
        self,
        client: JobClient,
        log: Log,
        save: Path,
        inherited_steps: int,
        finished_steps: int,
        last_step: int,
        metrics_of: Callable[[int], Dict[str, float]],
        has_weights: bool,
        has_state: bool,
        gather: Optional[Callable[[Path], int]],
        every_s: float,
    ) -> None:
        self._client = client
        self._log = log
        self._save = save
        self._inherited_steps = inherited_steps
        self._last_step = last_step
        # The last step that is stored; 0 before the first.
        self.newest = finished_steps
        self._metrics_of = metrics_of
        self._has_weights = has_weights
        self._has_state = has_state
        self._gather = gather
        self._every_s = every_s
        self._seen: Dict[int, slime.Fingerprint] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="checkpoints", daemon=True)
        self.error: Optional[Exception] = None

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Stores what there is, now that the engine writes no more. Raises what went wrong."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.error is None:
            self._look(is_over=True)
        else:
            raise self.error

    def _work(self) -> None:
        try:
            while not self._over.wait(self._every_s):
                self._look(is_over=False)
        except Exception as error:  # told to the owner, who ends the engine
            self.error = error

    def _look(self, is_over: bool) -> None:
        for step in self._written_steps(is_over):
            own = step - self._inherited_steps
            if not self.newest < own <= self._last_step or self._client.ended.is_set():
                continue
            if is_over or self.is_settled(step):
                self._store(step, own, is_over)

    def _written_steps(self, is_over: bool) -> List[int]:
        if self._gather is None:
            return slime.written_steps(self._save)
        try:
            gathered = self._gather(self._save)
        except JobError as error:
            if is_over:
                raise
            # A host that is gone tells by its connection; any other is asked again.
            self._log.warn(error.message)
            return []
        return [step for step in slime.written_steps(self._save) if step - 1 <= gathered]

    def is_settled(self, step: int) -> bool:
        """Finished, and unchanged since the last look."""
        if not slime.is_finished(self._save, step, self._has_state):
            return False
        if self._has_weights and not slime.has_weights(slime.weights_folder(self._save, step)):
            return False
        try:
            now = slime.fingerprint(slime.checkpoint_files(self._save, step))
        except FileNotFoundError:
            return False
        before = self._seen.get(step)
        self._seen[step] = now
        return now == before

    def _store(self, step: int, own: int, is_over: bool) -> None:
        if not slime.is_finished(self._save, step, self._has_state):
            self._log.warn(f"checkpoint {own} was not finished: a run that goes on from it begins its dataset anew")
        files = slime.checkpoint_files(self._save, step)
        self._client.upload_checkpoint(own, "full", files, self._metrics_of(own))
        self.newest = own
        self._seen.clear()
        without = "" if any(name.startswith("model/") for name in files) else ", without Hugging Face weights"
        self._log.info(f"checkpoint {own} is stored{without}")
        # What other hosts still have would only be brought here again.
        if is_over or self._gather is not None:
            return
        for earlier in slime.written_steps(self._save):
            if earlier < step:
                slime.discard(self._save, earlier)
