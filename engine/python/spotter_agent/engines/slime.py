"""slime (THUDM/slime 624b824a): its log lines and its checkpoints.

Log lines are those of ``logger.info`` in slime/observability and slime/backends/megatron_utils/model.py:
``step N: {...}``, ``rollout N: {...}``, ``perf N: {...}``, ``eval N: {...}`` and ``Timer NAME start``.
"""

import ast
import json
import math
import re
import zipfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional

METRICS = re.compile(r"\b(?P<kind>step|rollout|perf|eval) (?P<number>\d+): (?P<values>\{.*\})\s*$")
TIMER = re.compile(r"\bTimer (?P<name>\w+) start\b")
# A value that is no literal of Python, as numpy and torch print theirs.
WRAPPED = re.compile(r"\b(?:np\.float\d+|np\.int\d+|tensor)\(([^()]*)\)")
NOT_A_NUMBER = re.compile(r"(?<![\w'\"/])(-?)(nan|inf)(?![\w'\"/])")
PHASES = {
    "train_wait": "generate",
    "data_preprocess": "generate",
    "ref_log_probs": "score",
    "log_probs": "score",
    "critic_train": "train",
    "actor_train": "train",
    "train": "train",
    "update_weights": "sync-weights",
    "save_model": "save-checkpoint",
}
TRACKER = "latest_checkpointed_iteration.txt"


class Told(NamedTuple):
    """What a line tells: numbers of a step (counted from 1), or the phase that begins."""

    step: Optional[int] = None
    metrics: Optional[Dict[str, float]] = None
    phase: Optional[str] = None
    is_step_done: bool = False
    is_eval: bool = False


def read_line(line: str) -> Optional[Told]:
    """None for a line that tells nothing, however odd it is."""
    match = METRICS.search(line)
    if match:
        values = numbers(match.group("values"))
        if not values:
            return None
        kind = match.group("kind")
        metrics = {own_name(name): value for name, value in values.items()}
        return Told(
            step=int(match.group("number")) + 1,
            metrics=metrics,
            is_step_done=kind == "step",
            is_eval=kind == "eval",
        )
    timer = TIMER.search(line)
    if timer and timer.group("name") in PHASES:
        return Told(phase=PHASES[timer.group("name")])
    return None


def numbers(text: str) -> Dict[str, float]:
    """The finite numbers of a printed dictionary."""
    plain = NOT_A_NUMBER.sub("None", WRAPPED.sub(r"\1", text))
    try:
        parsed = ast.literal_eval(plain)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    if not isinstance(parsed, dict):
        return {}
    return {
        name: float(value)
        for name, value in parsed.items()
        if isinstance(name, str)
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
    }


OWN_NAMES = {
    "rollout/raw_reward": "reward_mean",
    "rollout/rewards": "advantage_mean",
    "train/loss": "loss",
    "train/kl_loss": "kl",
    "train/ppo_kl": "kl_to_sampler",
    "train/entropy_loss": "entropy",
    "train/pg_clipfrac": "clip_fraction",
    "train/grad_norm": "grad_norm",
    "rollout/response_lengths": "completion_tokens_mean",
    "perf/rollout_time": "generate_seconds",
    "perf/train_time": "train_seconds",
    "perf/step_time": "step_seconds",
}


def own_name(name: str) -> str:
    """The name that charts know a metric by; others keep theirs."""
    if name.startswith("train/lr-"):
        return "lr"
    return OWN_NAMES.get(name, name)


class Parts(NamedTuple):
    """What a checkpoint has beside Megatron's part. slime writes both when the tracker has moved on already."""

    weights: bool = True
    data: bool = True


def parts_of(argv: List[str]) -> Parts:
    """By the options that slime is started with."""
    return Parts(weights="--save-hf" in argv, data="--disable-rollout-global-dataset" not in argv)


def make_folders(save: Path, argv: List[str]) -> None:
    """Folders of all iterations to come, on a host of several: slime makes them on the one of its first rank alone."""
    count = int(argv[argv.index("--num-rollout") + 1])
    for iteration in range(count):
        for folder in (f"iter_{iteration:07d}", f"hf/{iteration}"):
            (save / folder).mkdir(parents=True, exist_ok=True)


def complete_steps(save: Path, parts: Parts) -> List[int]:
    """Steps whose checkpoint is whole: up to what the tracker says, and with everything that is written.

    Iterations count from 0 and name the rollout that was finished; steps count from 1.
    """
    try:
        latest = int((save / TRACKER).read_text().strip())
    except (OSError, ValueError):
        return []
    found = []
    for folder in save.glob("iter_*"):
        number = folder.name[len("iter_") :]
        if number.isdigit() and int(number) <= latest and is_whole(save, int(number), parts):
            found.append(int(number) + 1)
    return sorted(found)


def is_whole(save: Path, iteration: int, parts: Parts) -> bool:
    """Megatron writes `.metadata` last, but a killed node may leave shards that it names empty or missing."""
    folder = save / f"iter_{iteration:07d}"
    index = folder / ".metadata"
    if not index.is_file() or index.stat().st_size == 0:
        return False
    shards = list(folder.glob("*.distcp"))
    if len(shards) == 0 or any(shard.stat().st_size == 0 for shard in shards):
        return False
    # torch.save writes an archive, whose directory comes last.
    has_data = zipfile.is_zipfile(data_state(save, iteration))
    return (not parts.weights or has_weights(save / "hf" / str(iteration))) and (not parts.data or has_data)


def has_weights(folder: Path) -> bool:
    """Shards get their names when they are whole; the index that names them comes last."""
    try:
        index = json.loads((folder / "model.safetensors.index.json").read_text())
        return all((folder / name).is_file() for name in set(index["weight_map"].values()))
    except (OSError, ValueError, KeyError):
        return False


def data_state(save: Path, iteration: int) -> Path:
    return save / "rollout" / f"global_dataset_state_dict_{iteration}.pt"


def checkpoint_files(save: Path, step: int) -> Dict[str, Path]:
    """The files of a checkpoint by the path they are stored under."""
    iteration = step - 1
    folder = save / f"iter_{iteration:07d}"
    files = {f"trainer/{folder.name}/{path.relative_to(folder).as_posix()}": path for path in files_below(folder)}
    state = data_state(save, iteration)
    if state.is_file():
        files[f"trainer/rollout/{state.name}"] = state
    weights = save / "hf" / str(iteration)
    files.update({f"model/{path.relative_to(weights).as_posix()}": path for path in files_below(weights)})
    return files


def restore(downloaded: Path, step: int) -> None:
    """Makes a fetched ``trainer`` folder one that slime resumes from, at exactly this step.

    slime follows the tracker of a folder, whatever iterations lie beside it.
    """
    (downloaded / TRACKER).write_text(str(step - 1))


def files_below(folder: Path) -> List[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
