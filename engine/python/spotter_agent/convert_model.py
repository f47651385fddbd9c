"""The model in Megatron's format: converted once for each model and shape, by a job of its own, and then fetched."""

import hashlib
import json
from pathlib import Path
from typing import Callable, Dict, List

from .client import JobClient
from .conversion import convert
from .engines import slime_checkpoint as slime
from .errors import JobError, Lost, Stale
from .files import hash_of
from .log import Log
from .places import starts_from_weights
from .plan import fill

# Part of every key: raised when what a conversion writes for the same words changes.
FORMAT = 1


def conversion_key(job: Dict, weights_dir: Path, argv: List[str]) -> str:
    """Of what is converted, by its content, and how: the words of the command before any place is filled in."""
    listed = job["start"]["files"] if starts_from_weights(job) else job.get("modelFiles")
    if listed is None:
        paths = [path for path in sorted(weights_dir.rglob("*")) if path.is_file()]
        source = [[path.relative_to(weights_dir).as_posix(), hash_of(path)] for path in paths]
    else:
        source = sorted([file["path"], file["sha256"]] for file in listed)
    text = json.dumps({"format": FORMAT, "source": source, "argv": argv}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ModelConversion:
    """Leaves the converted weights at ``convertedDir``, or where whoever needs them fetches them."""

    def __init__(
        self,
        client: JobClient,
        log: Log,
        argv: List[str],
        places: Dict[str, str],
        env: Dict[str, str],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._client = client
        self._log = log
        self._argv = argv
        self._places = places
        self._env = env
        self._is_stopped = is_stopped
        self._target = Path(places["convertedDir"])
        self._key = conversion_key(client.job, Path(places["weightsDir"]), argv)

    def keep(self) -> None:
        """What a job of its own does."""
        if self._client.find_conversion(self._key) is not None:
            self._log.info(f"the model was converted before: {self._key[:12]}")
            return
        self._make()
        self._client.keep_conversion(self._key, slime.files_below(self._target))

    def get(self) -> None:
        """What a training does: it fetches what is kept, and makes what is not kept any more."""
        kept = self._client.find_conversion(self._key)
        for file in kept or []:
            self._client.download(file, self._target / file["path"])
        if slime.is_converted(self._target):
            self._log.info(f"the model was converted before: {self._key[:12]}")
            return
        reason = "is not kept any more" if kept is None else "is not whole as it was kept"
        self._log.warn(f"the converted model {reason}: it is converted here")
        self._make()
        try:
            self._client.keep_conversion(self._key, slime.files_below(self._target))
        except (Lost, Stale):
            raise
        except JobError as error:
            # It is here; only the next run has to convert again.
            self._log.warn(f"the converted weights could not be kept: {error.message}")

    def _make(self) -> None:
        def words(folder: Path) -> List[str]:
            return [fill(word, {**self._places, "convertedDir": str(folder)}) for word in self._argv]

        what = "the model to Megatron's format"
        convert(what, words, self._target, slime.is_converted, self._env, self._log, self._is_stopped)
