"""A model as judge."""

import asyncio
import json
import os
import time
import urllib.error
import urllib.request

OPENAI = "https://api.openai.com/v1"
SCORE = {
    "type": "object",
    "properties": {"score": {"type": "integer", "enum": [0, 1]}},
    "required": ["score"],
    "additionalProperties": False,
}
TRIES = 4
# Too many at once, and what servers say while they start or break.
AGAIN = (408, 409, 429, 500, 502, 503, 504)


async def llm_judge(
    prompt,
    *,
    api_url=None,
    api_key=None,
    secrets=None,
    model="gpt-5-nano",
    temperature=0.0,
    max_tokens=1024,
    timeout=520,
    schema=None,
    score_key="score",
    **more,
):
    """The number that a model gives under score_key of an answer that keeps to a JSON schema: a coroutine, await it.

    The server is api_url, else LLM_JUDGE_API_URL or OPENAI_BASE_URL of the secrets or the environment, else OpenAI;
    an address that ends in /responses or /chat/completions says how it is asked. The key is api_key, else
    OPENAI_API_KEY or LLM_JUDGE_API_KEY. Raises where the server cannot be asked or the answer holds no number, so
    that the row has no verdict: never 0 for an answer that nobody gave.
    """
    url = _address(api_url or _setting(("LLM_JUDGE_API_URL", "OPENAI_BASE_URL"), secrets) or OPENAI)
    key = api_key or _setting(("OPENAI_API_KEY", "LLM_JUDGE_API_KEY"), secrets)
    if not key and url.startswith(OPENAI):
        raise ValueError("llm_judge needs a key: grant the secret OPENAI_API_KEY, or pass api_key")
    is_chat = url.endswith("/chat/completions")
    # Models that always think take no temperature.
    sampling = {} if model.startswith("gpt-5") else {"temperature": temperature}
    ask = _chat if is_chat else _responses
    body = {"model": model, **sampling, **ask(prompt, max_tokens, schema or SCORE), **more}
    text = await asyncio.to_thread(_post, url, key, body, time.monotonic() + timeout)
    return _score_of(_text_of(text, url), score_key, schema or SCORE)


def _setting(names, secrets):
    for source in (secrets or {}, os.environ):
        for name in names:
            if source.get(name):
                return source[name]
    return None


def _address(url):
    url = url.rstrip("/")
    if url.endswith(("/responses", "/chat/completions")):
        return url
    # Nearly every server that speaks like OpenAI has chat completions; not so the other.
    return url + ("/responses" if url == OPENAI else "/chat/completions")


def _responses(prompt, max_tokens, schema):
    wanted = {"type": "json_schema", "name": "judgement", "strict": True, "schema": schema}
    return {"input": prompt, "max_output_tokens": max_tokens, "text": {"format": wanted}}


def _chat(prompt, max_tokens, schema):
    wanted = {"name": "judgement", "strict": True, "schema": schema}
    return {
        "messages": [{"role": "user", "content": prompt}],
        "max_completion_tokens": max_tokens,
        "response_format": {"type": "json_schema", "json_schema": wanted},
    }


def _post(url, key, body, until):
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    for attempt in range(TRIES):
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("llm_judge: no answer in time")
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=left) as response:
                return response.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            said = error.read(2000).decode(errors="replace")
            if error.code not in AGAIN or attempt == TRIES - 1:
                raise RuntimeError(f"llm_judge: {url} answered {error.code}: {said}") from None
            wait = _seconds(error.headers.get("retry-after"), attempt)
        except urllib.error.URLError as error:
            if attempt == TRIES - 1:
                raise RuntimeError(f"llm_judge: {url} cannot be reached: {error.reason}") from None
            wait = _seconds(None, attempt)
        time.sleep(max(0.0, min(wait, until - time.monotonic())))


def _seconds(told, attempt):
    try:
        return min(60.0, float(told))
    except (TypeError, ValueError):
        return 0.5 * 2**attempt


def _text_of(text, url):
    """What was said, in either form."""
    try:
        reply = json.loads(text)
        if reply.get("choices"):
            return reply["choices"][0]["message"].get("content") or ""
        parts = [part for item in reply["output"] for part in item.get("content") or []]
        return "".join(part.get("text") or "" for part in parts)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"llm_judge: {url} answered with something that holds no answer: {text[:200]!r}") from None


def _score_of(text, score_key, schema):
    try:
        score = json.loads(text)[score_key]
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            raise TypeError
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ValueError(f"llm_judge: the answer holds no number {score_key}: {text[:200]!r}") from None
    # Servers that know no schemas answer as they like.
    allowed = schema.get("properties", {}).get(score_key, {}).get("enum")
    if allowed and score not in allowed:
        raise ValueError(f"llm_judge: {score_key} is {score}, and the schema allows {allowed}")
    return float(score)
