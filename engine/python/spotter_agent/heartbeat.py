"""Signs of life, on a thread of its own: work that takes long between two reports must not look dead."""

import threading
from typing import Callable, Dict, Optional

from .errors import Stopped


class Heartbeat:
    """``send`` posts one beat and returns whether the control plane asks to stop; it retries by itself."""

    def __init__(
        self,
        every_s: float,
        send: Callable[[Dict], bool],
        cancelled: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._every_s = every_s
        self._send = send
        self._cancelled = cancelled
        self._failed = failed
        self._progress: Dict = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def set_progress(self, phase: Optional[str] = None, step: Optional[int] = None) -> None:
        with self._lock:
            if phase is not None:
                self._progress["phase"] = phase
            if step is not None:
                self._progress["step"] = step

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            # One that is under way may wait for a control plane that is away.
            self._thread.join(timeout=1.0)

    def _beat(self) -> None:
        try:
            while not self._stop.is_set():
                with self._lock:
                    progress = dict(self._progress)
                if self._send(progress):
                    self._cancelled()
                self._stop.wait(self._every_s)
        except Stopped:
            return
        except Exception as error:  # told to the owner, who ends the work
            if not self._stop.is_set():
                self._failed(error)
