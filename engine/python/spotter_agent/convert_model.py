"""The model in Megatron's format: converted once for each model and shape, fetched by whoever needs it again."""

import hashlib
import json
from pathlib import Path
from typing import Callable, Dict, List

from .client import JobClient
from .conversion import Conversion
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


def convert_model(
    client: JobClient,
    log: Log,
    argv: List[str],
    places: Dict[str, str],
    env: Dict[str, str],
    is_stopped: Callable[[], bool],
    pause_s: float,
) -> None:
    """Leaves the converted weights at ``convertedDir``."""
    target = Path(places["convertedDir"])
    if slime.is_converted(target):
        return
    key = conversion_key(client.job, Path(places["weightsDir"]), argv)
    kept = client.find_conversion(key)
    if kept is not None:
        log.info(f"the model was converted before: {key[:12]}")
        for file in kept:
            client.download(file, target / file["path"])
        if slime.is_converted(target):
            return
        log.warn("what was kept of the conversion is not whole: it is made again")

    def words(folder: Path) -> List[str]:
        return [fill(word, {**places, "convertedDir": str(folder)}) for word in argv]

    what = "conversion to Megatron's format"
    Conversion(what, words, target, slime.is_converted, env, log, is_stopped, pause_s).run()
    try:
        client.keep_conversion(key, slime.files_below(target))
    except (Lost, Stale):
        raise
    except JobError as error:
        # It is here; only the next run has to convert again.
        log.warn(f"the converted weights could not be kept: {error.message}")
