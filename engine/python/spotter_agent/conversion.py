"""Weights in another format: a program of the engine's, which writes into a folder that gets its name when all is whole.

Nothing of one that was killed half-way is ever used. Whether it is worth another try is for the control plane to say.
"""

import shutil
from pathlib import Path
from typing import Callable, Dict, List

from .classify import cause_of_end
from .engine_process import EngineProcess
from .errors import JobError, Stopped
from .log import Log


def convert(
    what: str,
    argv: Callable[[Path], List[str]],
    target: Path,
    is_whole: Callable[[Path], bool],
    env: Dict[str, str],
    log: Log,
    is_stopped: Callable[[], bool],
) -> None:
    """``argv`` is made for the folder that is written into; ``is_whole`` judges that folder.

    Raises why there is nothing at ``target``, and :class:`Stopped` when ``is_stopped`` says so.
    """
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    log.info(f"conversion of {what}: begun")
    process = EngineProcess(argv(partial), env, partial.parent, log.info)
    try:
        code = process.poll()
        while code is None:
            if is_stopped():
                raise Stopped(what)
            code = process.wait(0.2)
        process.drain()
    finally:
        process.close()
    if code != 0:
        raise cause_of_end(code, process.tail())
    if not is_whole(partial):
        raise JobError("engine_failed", "It ended well, and its weights are not whole.")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    log.info(f"conversion of {what}: done")
