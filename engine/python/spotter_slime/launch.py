"""``python -m spotter_slime.launch SCRIPT OPTIONS...``: runs slime's train.py so that it can be asked to end.

slime (THUDM/slime 624b824a) dies of SIGTERM, with every step since its last checkpoint. Its loop asks
``should_run_periodic_action`` twice a step: first whether to save, with the number of rollouts, later whether to
evaluate, without it. After SIGTERM the first answer is yes, and at the second question of that step it ends.
"""

import runpy
import signal
import sys
import threading
from typing import Any, Callable, List, Optional

# What a shell gives for a process that SIGTERM ended.
TERMINATED = 128 + signal.SIGTERM


def ending(original: Callable[..., bool], is_asked: Callable[[], bool]) -> Callable[..., bool]:
    """``should_run_periodic_action`` of a loop that ends after it has saved, once it is asked to."""
    saved: List[int] = []

    def should_run(
        rollout_id: int,
        interval: Optional[int],
        num_rollout_per_epoch: Optional[int] = None,
        num_rollout: Optional[int] = None,
    ) -> bool:
        is_save = num_rollout is not None
        if is_asked() and is_save and interval is not None:
            saved.append(rollout_id)
            return True
        if rollout_id in saved:
            raise SystemExit(TERMINATED)
        return original(rollout_id, interval, num_rollout_per_epoch, num_rollout)

    return should_run


def main(argv: List[str]) -> None:
    asked = threading.Event()

    def ask(*_: Any) -> None:
        asked.set()
        print("asked to end: after the next step's checkpoint", flush=True)

    try:
        # Its handler of SIGTERM is set when it is imported; ours has to come later.
        import ray  # noqa: F401
    except ImportError:
        pass
    from slime.utils import misc

    misc.should_run_periodic_action = ending(misc.should_run_periodic_action, asked.is_set)
    signal.signal(signal.SIGTERM, ask)
    sys.argv = argv
    runpy.run_path(argv[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
