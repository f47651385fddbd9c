"""What slime calls for a run of Spotter: ``spotter_slime.reward``, ``.post_process`` and ``.generate``.

Signatures are those of THUDM/slime 624b824a (slime/rollout/rm_hub, slime/ray/rollout.py, slime/rollout/
sglang_rollout.py). Nothing here needs torch; tests import it under stub modules.
"""

from .generate import generate
from .rewards import post_process, reward

__all__ = ["generate", "post_process", "reward"]
