"""How slime (THUDM/slime 624b824a) counts in its metric files, for one of its processes.

Below ``train/`` it counts steps of the optimizer, of which a rollout may have several; elsewhere rollouts, from 0.
With ``--wandb-always-use-train-step`` it counts steps of the optimizer everywhere.
"""

from typing import List, NamedTuple

ALWAYS_TRAIN_STEP = "--wandb-always-use-train-step"
OF_OPTIMIZER, OF_ROLLOUT = "train/", "rollout/"


class Ratio(NamedTuple):
    """Steps of the optimizer per rollout, as slime divides them."""

    samples: int
    batch: int


def ratio_of(argv: List[str]) -> Ratio:
    parts = whole(argv, "--num-steps-per-rollout", 0)
    if parts > 0:
        return Ratio(parts, 1)
    samples = whole(argv, "--rollout-batch-size", 1) * whole(argv, "--n-samples-per-prompt", 1)
    return Ratio(samples, min(samples, whole(argv, "--global-batch-size", samples)))


def whole(argv: List[str], option: str, otherwise: int) -> int:
    """The positive number after the last such word."""
    given = [following for word, following in zip(argv, argv[1:]) if word == option]
    return int(given[-1]) if given and given[-1].isdigit() and int(given[-1]) > 0 else otherwise


class SlimeSteps:
    """Tells the rollout of each number of a file, in the order of the file.

    The process that learns a rollout writes what was sampled first: its steps of the optimizer are of that one, however
    many there are. A process that writes only such steps, as PPO's critic does, is told by the ratio.
    """

    def __init__(self, argv: List[str]) -> None:
        self._ratio = ratio_of(argv)
        self._counts_train_steps = ALWAYS_TRAIN_STEP in argv
        self._learning = -1

    def rollout(self, tag: str, step: int) -> int:
        """From 0."""
        samples, batch = self._ratio
        if tag.startswith(OF_OPTIMIZER):
            return self._learning if self._learning >= 0 else step * batch // samples
        rollout = -(-step * batch // samples) if self._counts_train_steps else step
        if tag.startswith(OF_ROLLOUT):
            self._learning = rollout
        return rollout
