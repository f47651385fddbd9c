"""@reward: makes a function a judge of finished conversations."""

import inspect

REWARD_REGISTRY = {}


def reward(function=None, *, precondition=False, sandbox=False, timeout=None):
    """Marks `name(args: RewardArgs, messages: list) -> float`, sync or async, as a reward.

    precondition: a score of 0 makes the total 0. timeout: seconds for one call.
    """
    if timeout is not None and not timeout > 0:
        raise ValueError("@reward: timeout must be more than 0 seconds")

    def mark(target):
        _check(target)
        target.__rnow_reward__ = {
            "precondition": bool(precondition),
            "sandbox": bool(sandbox),
            "timeout": timeout,
        }
        name = target.__name__
        known = REWARD_REGISTRY.get(name)
        if known is not None and known.__code__ is not target.__code__:
            raise ValueError(f"@reward: two rewards are called {name}; rename one of them")
        REWARD_REGISTRY[name] = target
        return target

    return mark if function is None else mark(function)


def _check(target):
    if not inspect.isfunction(target):
        raise TypeError(f"@reward goes above a function, not above {type(target).__name__}")
    kinds = [each.kind for each in inspect.signature(target).parameters.values()]
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if len(kinds) != 2 or any(kind not in plain for kind in kinds):
        raise TypeError(
            f"@reward {target.__name__} must take two parameters: (args: RewardArgs, messages: list) -> float"
        )


def clear_reward_registry():
    REWARD_REGISTRY.clear()


def is_precondition(name):
    return _option(name, "precondition")


def is_sandbox_reward(name):
    return _option(name, "sandbox")


def _option(name, option):
    target = REWARD_REGISTRY.get(name)
    return target is not None and target.__rnow_reward__[option]


def compute_total_reward(scores):
    """Total of `{name: score}`: 0 if any precondition is 0, else the sum of all."""
    if any(score == 0 and is_precondition(name) for name, score in scores.items()):
        return 0.0
    return float(sum(scores.values()))
