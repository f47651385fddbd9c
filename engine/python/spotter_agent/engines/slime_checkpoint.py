"""slime's checkpoints (THUDM/slime 624b824a): what of them is whole, and which files go where.

In this order it writes a checkpoint of iteration N below its save folder: Megatron's shards in ``iter_N`` with
``.metadata`` last of them, the tracker, Hugging Face weights in ``hf/N`` with the index last, with PPO the critic's
``critic/iter_N``, and where the dataset stands, ``rollout/global_dataset_state_dict_N.pt``. Iterations count from 0
and name the rollout that was finished; steps count from 1.
"""

import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Dict, List, Tuple

from ..errors import JobError

TRACKER = "latest_checkpointed_iteration.txt"
INDEX = "model.safetensors.index.json"
SHARD = re.compile(rb"__\d+_\d+\.distcp")

# Size and time of each file: what is the same twice is not being written.
Fingerprint = Tuple[Tuple[str, int, int], ...]


def written_steps(save: Path) -> List[int]:
    """Steps whose Megatron checkpoint is whole, up to what the tracker says."""
    latest = tracked(save)
    found = []
    for folder in save.glob("iter_*"):
        number = folder.name[len("iter_") :]
        if number.isdigit() and int(number) <= latest and is_whole(folder):
            found.append(int(number) + 1)
    return sorted(found)


def tracked(save: Path) -> int:
    """The iteration that the tracker names; -1 where it names none."""
    try:
        return int((save / TRACKER).read_text().strip())
    except (OSError, ValueError):
        return -1


def is_whole(folder: Path) -> bool:
    """Megatron writes ``.metadata`` last, but a killed node may leave shards that it names empty or missing."""
    try:
        named = set(SHARD.findall((folder / ".metadata").read_bytes()))
    except OSError:
        return False
    return len(named) > 0 and all(is_filled(folder / name.decode()) for name in named)


def is_converted(folder: Path) -> bool:
    """Whether slime's conversion to Megatron's format went to its end: it names its one checkpoint ``release``."""
    try:
        release = (folder / TRACKER).read_text().strip()
    except OSError:
        return False
    return release == "release" and is_whole(folder / release)


def has_weights(folder: Path) -> bool:
    """Whether Hugging Face weights are whole: a configuration, and every shard that the index names."""
    try:
        names = set(json.loads((folder / INDEX).read_text())["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return len(names) > 0 and all(is_filled(folder / str(name)) for name in {"config.json", *names})


def has_optimizer(folder: Path) -> bool:
    """Whether Megatron can go on with the optimizer: slime may have been told not to save it (--no-save-optim)."""
    return b"optimizer" in (folder / ".metadata").read_bytes()


def is_finished(save: Path, step: int, has_state: bool = True) -> bool:
    """Whether slime has come to the end of what it writes for a step, Hugging Face weights aside.

    ``has_state``: it writes down where its dataset stands, last of all.
    """
    critic = save / "critic"
    is_judged = not critic.is_dir() or is_whole(critic / iteration_folder(save, step).name)
    # torch.save writes an archive, whose directory comes last.
    return is_judged and (not has_state or zipfile.is_zipfile(dataset_state(save, step)))


def is_filled(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def iteration_folder(save: Path, step: int) -> Path:
    return save / f"iter_{step - 1:07d}"


def weights_folder(save: Path, step: int) -> Path:
    return save / "hf" / str(step - 1)


def dataset_state(save: Path, step: int) -> Path:
    """Written last of all."""
    return save / "rollout" / f"global_dataset_state_dict_{step - 1}.pt"


def checkpoint_files(save: Path, step: int) -> Dict[str, Path]:
    """The files of a checkpoint by the path they are stored under. Half of its Hugging Face weights are none."""
    folder = iteration_folder(save, step)
    files = {f"trainer/{folder.name}/{name}": path for name, path in files_below(folder).items()}
    critic = save / "critic" / folder.name
    files.update({f"trainer/critic/{folder.name}/{name}": path for name, path in files_below(critic).items()})
    state = dataset_state(save, step)
    if state.is_file():
        files[f"trainer/rollout/{state.name}"] = state
    weights = weights_folder(save, step)
    if has_weights(weights):
        files.update({f"model/{name}": path for name, path in files_below(weights).items()})
    return files


def fingerprint(files: Dict[str, Path]) -> Fingerprint:
    told = []
    for name, path in sorted(files.items()):
        stat = path.stat()
        told.append((name, stat.st_size, stat.st_mtime_ns))
    return tuple(told)


def files_below(folder: Path) -> Dict[str, Path]:
    """Files by their path within ``folder``. A link that leads out of it is refused: it is no part of a checkpoint."""
    if not folder.is_dir():
        return {}
    found: Dict[str, Path] = {}
    home = folder.resolve()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        target = path.resolve() if path.is_symlink() else home
        if target != home and home not in target.parents:
            raise JobError(
                "engine_failed",
                f"The checkpoint has a link that leads out of it: {name}.",
                hint="Have a copy written instead of the link.",
                where=name,
            )
        if path.is_file():
            found[name] = path
    return found


def restore(downloaded: Path, step: int) -> None:
    """Makes a fetched ``trainer`` folder one that slime resumes from, at exactly this step.

    slime follows the tracker of a folder, whatever iterations lie beside it.
    """
    (downloaded / TRACKER).write_text(str(step - 1))
    critic = downloaded / "critic"
    if (critic / iteration_folder(downloaded, step).name).is_dir():
        (critic / TRACKER).write_text(str(step - 1))


def make_folders(save: Path, argv: List[str]) -> None:
    """Folders of all iterations to come, on a host of several: slime makes them on the one of its first rank alone."""
    count = int(argv[argv.index("--num-rollout") + 1])
    for step in range(1, count + 1):
        for folder in (iteration_folder(save, step), weights_folder(save, step)):
            folder.mkdir(parents=True, exist_ok=True)


def discard(save: Path, step: int) -> None:
    """Removes a step that is stored elsewhere by now; a disk would not hold all of a long training."""
    for folder in (
        iteration_folder(save, step),
        save / "critic" / iteration_folder(save, step).name,
        weights_folder(save, step),
    ):
        shutil.rmtree(folder, ignore_errors=True)
