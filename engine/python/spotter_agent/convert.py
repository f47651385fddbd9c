"""A job that converts weights and does nothing else, on one host: the model before a run that needs it in Megatron's
format, or the state of a checkpoint that lacks Hugging Face weights.
"""

from pathlib import Path
from typing import Dict, List

from .client import JobClient
from .conversion import convert
from .convert_model import ModelConversion
from .engines import slime_checkpoint as slime
from .errors import JobError
from .log import Log
from .options import Options
from .overlay import run_overlay
from .places import fetch_model_files, places_of
from .plan import engine_environment, fill
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
        conversions = native["conversions"]
        if "state" in job:
            self._add_weights(job["state"], conversions["toHf"], places, env)
        else:
            argv = conversions["toMegatron"]
            ModelConversion(self._client, self._log, argv, places, env, self._is_over).keep()
        return "succeeded"

    def _add_weights(self, state: Dict, argv: List[str], places: Dict[str, str], env: Dict[str, str]) -> None:
        save = self._work_dir / "save"
        fetch(self._client, state, "trainer", save)
        folders = [folder for folder in save.glob("iter_*") if slime.is_whole(folder)]
        if len(folders) != 1:
            words = f"Checkpoint {state['id']} has no whole state of this engine."
            raise JobError("checkpoint_mismatch", words)
        target = self._work_dir / "hf"

        def words_of(folder: Path) -> List[str]:
            own = {"iterationDir": str(folders[0]), "hfDir": str(folder)}
            return [fill(word, {**places, **own}) for word in argv]

        what = f"checkpoint {state['id']} to Hugging Face's format"
        convert(what, words_of, target, slime.has_weights, env, self._log, self._is_over)
        files = {f"model/{name}": path for name, path in slime.files_below(target).items()}
        self._client.upload_checkpoint(state["step"], state["kind"], files)

    def _is_over(self) -> bool:
        return self._client.cancelled.is_set() or self._client.ended.is_set()
