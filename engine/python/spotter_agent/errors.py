"""What can go wrong, as the control plane names it."""

from typing import Optional


class JobError(Exception):
    """A coded failure: what happened, where, and how to fix it. ``code`` is one of docs/errors.md."""

    def __init__(
        self,
        code: str,
        message: str,
        hint: Optional[str] = None,
        where: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.where = where

    def as_failure(self, log_tail: list) -> dict:
        """The failure of an ``exit`` event."""
        failure = {"code": self.code, "message": self.message, "logTail": log_tail}
        if self.hint is not None:
            failure["hint"] = self.hint
        if self.where is not None:
            failure["where"] = self.where
        return failure


class Stale(JobError):
    """A newer attempt owns the work: nothing that this container says counts any more."""


class Lost(JobError):
    """The control plane stayed away for too long, or refuses what it is told."""


class Stopped(Exception):
    """The container is ending; whatever waits, waits no more."""
