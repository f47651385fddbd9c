"""HTTP to the control plane, to blob stores and to model hubs, with the retry rules of a container."""

import http.client
import json
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, BinaryIO, Callable, Dict, Optional, TypeVar, Union

from .errors import JobError, Stale
from .retry import RetryLater, with_retry

T = TypeVar("T")
Body = Union[bytes, BinaryIO]

MAY_PASS = (408, 425, 429, 502, 503, 504)
# A plain 500 is a fault of the other side that more attempts rarely cure; but a training is worth a minute or two.
MAX_500_S = 120.0
NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    socket.timeout,
    TimeoutError,
    ConnectionError,
)


class Transport:
    """Requests with the job's token, which goes along only to the control plane's own origin.

    ``give_up_after_s`` is how long the other side may stay away; ``speed`` divides the waiting times.
    """

    def __init__(
        self,
        url: str,
        token: str,
        ended: threading.Event,
        give_up_after_s: float = 600.0,
        speed: float = 1.0,
    ) -> None:
        self.base = url if url.endswith("/") else url + "/"
        self.ended = ended
        self._token = token
        self._give_up_after_s = give_up_after_s
        self._speed = speed

    def json(self, path: str, body: Optional[Any] = None, timeout_s: float = 30.0) -> Any:
        """POSTs ``body``, or GETs without one, and returns the parsed answer."""
        data = None if body is None else json.dumps(body).encode()
        return self.request(
            "GET" if data is None else "POST",
            path,
            read=lambda response: json.loads(response.read()),
            body=None if data is None else (lambda: data),
            headers={} if data is None else {"content-type": "application/json"},
            timeout_s=timeout_s,
        )

    def request(
        self,
        method: str,
        url: str,
        read: Callable[[http.client.HTTPResponse], T],
        body: Optional[Callable[[], Body]] = None,
        headers: Union[Dict[str, str], Callable[[], Dict[str, str]], None] = None,
        timeout_s: float = 60.0,
        progress: Callable[[], object] = lambda: None,
    ) -> T:
        """``body``, and ``headers`` where they change, are made afresh for each attempt; ``timeout_s`` is of each
        silence, not of the whole.
        """
        absolute = urllib.parse.urljoin(self.base, url)
        path = urllib.parse.urlsplit(absolute).path
        return with_retry(
            f"{method} {path}",
            lambda: self._attempt(
                method, absolute, read, body, headers() if callable(headers) else headers or {}, timeout_s
            ),
            self._give_up_after_s,
            self.ended,
            self._speed,
            progress,
        )

    def _attempt(
        self,
        method: str,
        url: str,
        read: Callable[[http.client.HTTPResponse], T],
        body: Optional[Callable[[], Body]],
        headers: Dict[str, str],
        timeout_s: float,
    ) -> T:
        content = body() if body is not None else None
        request = urllib.request.Request(url, data=content, method=method, headers=headers)
        if self._token and origin(url) == origin(self.base):
            # Unredirected: a store's own address must never see the token.
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as response:
                return read(response)
        except urllib.error.HTTPError as error:
            with error:
                raise refusal(url, error) from error
        except (ValueError, *NETWORK_ERRORS) as error:
            # An answer lost on the way, a refused connection, half a JSON: the other side may come back.
            reason = getattr(error, "reason", None) or error
            raise RetryLater(f"{urllib.parse.urlsplit(url).netloc}: {reason}") from error
        finally:
            close = getattr(content, "close", None)
            if close is not None:
                close()


def origin(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def refusal(url: str, error: urllib.error.HTTPError) -> Exception:
    """What a refused request means: try again, give up, or stop altogether."""
    try:
        text = error.read().decode("utf-8", "replace")
    except NETWORK_ERRORS:
        text = ""
    coded = coded_error(error.code, url, text)
    message = f"{urllib.parse.urlsplit(url).netloc} answered {error.code}: {coded.message}"
    if error.code == 410 or coded.code == "attempt_stale":
        return Stale("attempt_stale", coded.message)
    after_s = retry_after_s(error.headers.get("retry-after"))
    if error.code in MAY_PASS:
        return RetryLater(message, after_s=after_s, cause=coded)
    if error.code >= 500:
        return RetryLater(message, after_s=after_s, for_s=MAX_500_S, cause=coded)
    return coded


def coded_error(status: int, url: str, text: str) -> JobError:
    try:
        body = json.loads(text)["error"]
        return JobError(str(body["code"]), str(body["message"]), body.get("hint"), body.get("where"))
    except (ValueError, KeyError, TypeError, AttributeError):
        code = {401: "unauthorized", 403: "forbidden", 404: "not_found"}.get(status, "internal")
        path = urllib.parse.urlsplit(url).path
        return JobError(code, f"{path} answered {status}: {text[:200]}")


def retry_after_s(header: Optional[str]) -> Optional[float]:
    """Seconds, as HTTP has it; a date is not worth a comparison of clocks between machines."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < 3600 else None
