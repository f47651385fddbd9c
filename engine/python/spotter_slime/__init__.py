"""What slime calls for a run of Spotter: rewards, tools and conversations of its own.

Signatures are those of THUDM/slime 624b824a (slime/rollout/rm_hub, slime/ray/rollout.py, slime/rollout/
sglang_rollout.py). Nothing here needs torch; tests import it under stub modules.
"""

from .generate import generate
from .rewards import check_reward_nonzero_std, log_eval, post_process, reward
from .rollouts import log_rollout

__all__ = ["check_reward_nonzero_std", "generate", "log_eval", "log_rollout", "post_process", "reward"]
