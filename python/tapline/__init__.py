"""A client for a Tapline payment network. It needs only the standard library.

    from tapline import Tapline, usdc

    tapline = Tapline()  # reads TAPLINE_API_KEY and TAPLINE_BASE_URL
    intent = tapline.payment_intents.create(amount=usdc("2.50"), terminal="tml_...", order_id="A-1")
    for payment in tapline.payments.list(status="succeeded"):
        print(payment["id"])

Every POST carries an Idempotency-Key, which is the same for all attempts of a call. A call whose
result is unknown raises OutcomeUnknownError: call its resolve(), or repeat the call with the same
key. Never repeat it with another key. Requires Python 3.9 or newer.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import functools
import http.client
import io
import json
import os
import random
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import (Any, AsyncIterator, Callable, Dict, Iterable, Iterator, List, Mapping,
                    Optional, Protocol, Tuple)

__version__ = "0.1.0"
__all__ = [
    "AsyncTapline", "Tapline", "TaplineError", "ConnectionFailed", "OutcomeUnknownError",
    "UsageError", "WebhookHeaders", "WebhookVerificationError", "format_usdc", "order_id", "usdc",
    "verify",
]

# An API object, as parsed from JSON.
Json = Dict[str, Any]
# A call's method, path, body, query, idempotency key, and whether the service stores the response
# under that key. All attempts of the call send the same.
_Sent = Tuple[str, str, Optional[Json], Optional[Json], Optional[str], bool]

# The dated API version of this package. It is sent, because a key's own version may differ.
_API_VERSION = "2026-09-28"
_SANDBOX = "http://127.0.0.1:4242/api"
_RUNNING = "idempotency_request_in_progress"
_LONGEST_RETRY_AFTER = 60
_WEBHOOK_TOLERANCE = 300


class TaplineError(Exception):
    """An error of this package. Branch on `code`; handle unknown codes by `type`."""

    def __init__(self, message: str, status: int | None = None, type: str | None = None,
                 code: str | None = None, param: str | None = None,
                 request_id: str | None = None) -> None:
        super().__init__(message)
        self.status, self.type, self.code = status, type, code
        self.param, self.request_id = param, request_id


class UsageError(TaplineError):
    """The arguments were invalid. Nothing was sent."""


class ConnectionFailed(TaplineError):
    """A call got no response. A call that moves money raises OutcomeUnknownError instead."""


class WebhookVerificationError(TaplineError):
    """The message is not from the service, or is too old. Respond with 400 and do nothing."""


class OutcomeUnknownError(TaplineError):
    """The result of a call is unknown: the money may have moved or not.

    Call resolve(), or repeat the call with the same key. Never repeat it with another key.
    resolve() returns the object in its current state. It raises the refusal if the call was
    refused, or this error again while the result is unknown.
    """

    def __init__(self, why: str, idempotency_key: str, resolve: Callable[[], Json],
                 cause: TaplineError) -> None:
        super().__init__(
            f"{why} The result is unknown: call resolve(), or repeat the same call with the "
            "same idempotency_key. Never repeat it with another key.",
            status=cause.status, code=cause.code or "outcome_unknown", request_id=cause.request_id)
        self.idempotency_key = idempotency_key
        self.resolve = resolve


def usdc(amount: str) -> int:
    """Converts USDC, as decimal text, to atoms: usdc("2.50") is 2500000."""
    text = amount if isinstance(amount, str) else ""
    found = re.fullmatch(r"([0-9]{1,9})(?:\.([0-9]{1,6}))?", text)
    if found is None:
        raise UsageError(f"usdc() received {amount!r}. It takes a string with up to 6 decimals: "
                         "usdc('2.50').")
    return int(found[1] + (found[2] or "").ljust(6, "0"))


def format_usdc(atoms: int) -> str:
    """Converts atoms to USDC, with at least two decimals: format_usdc(2500000) is "2.50"."""
    digits = str(abs(atoms)).rjust(7, "0")
    fraction = re.sub("0{1,4}$", "", digits[-6:])
    return f"{'-' if atoms < 0 else ''}{digits[:-6]}.{fraction}"


def order_id(order: str) -> str:
    """Derives a valid order_id from your shop's own order name.

    A name of up to 8 valid characters stays unchanged; any other name always maps to the same 8
    characters, in all Tapline clients. If two orders ever map to the same id, the second is refused
    with order_id_in_use, so two orders are never paid as one.
    """
    if not isinstance(order, str) or order == "":
        raise UsageError(f"order_id() received {order!r}. It takes a string: "
                         "order_id('order_01HZX').")
    if re.fullmatch("[A-Za-z0-9_-]{1,8}", order):
        return order
    value = 0xCBF29CE484222325
    for byte in order.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return base64.urlsafe_b64encode((value % 2**48 ^ value >> 48).to_bytes(6, "big")).decode()


class WebhookHeaders(Protocol):
    """Header names and values: a dict, or the headers of Flask, Django, http.server and others."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


def verify(raw_body: bytes | str, headers: WebhookHeaders, secret: str,
           tolerance: float = _WEBHOOK_TOLERANCE, now: float | None = None) -> Json:
    """Checks a webhook's signature and age, and returns its event.

    `raw_body` is the bytes as received, before any JSON parsing. `headers` maps header names, in
    any case, to values. The header Service-Signature is used or, without it, the headers of
    Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature. Raises
    WebhookVerificationError if the message is not valid.
    """
    if not isinstance(raw_body, (bytes, str)):
        raise WebhookVerificationError("The body was already parsed. Pass the raw bytes: in Flask "
                                       "request.get_data(), in Django request.body.")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    named: dict[str, str] = {}
    for name, value in headers.items():
        # Joins a repeated header, because choosing one of its values could choose the wrong one.
        before = named.get(name.lower())
        named[name.lower()] = value if before is None else f"{before}, {value}"
    timestamp, head, given, of_standard = _proof(named)
    if not secret:
        raise WebhookVerificationError("The secret is empty: it begins with whsec_.")
    if not abs((time.time() if now is None else now) - int(timestamp)) <= tolerance:
        raise WebhookVerificationError("The signature is too old, or the local clock is wrong.")
    key = _decoded(secret) if of_standard else secret.encode()
    expected = hmac.new(key, head.encode() + body, hashlib.sha256).digest()
    if not any([hmac.compare_digest(expected, one) for one in given]):
        raise WebhookVerificationError("The signature does not match: wrong secret or altered "
                                       "body.")
    event: Json = json.loads(body)
    return event


def _proof(headers: Mapping[str, str]) -> Tuple[str, str, List[bytes], bool]:
    """Returns the timestamp, the part of the signed text that precedes the body, the signatures,
    and True if they are in the format of Standard Webhooks."""
    own = headers.get("service-signature")
    if own:
        parts = [part.strip().partition("=")[::2] for part in own.split(",")]
        times = [value for name, value in parts if name == "t"]
        # Two timestamps would make the header ambiguous.
        timestamp = times[0] if len(times) == 1 else ""
        given = [bytes.fromhex(value) for name, value in parts
                 if name == "v1" and re.fullmatch("[0-9a-f]{64}", value)]
        if not re.fullmatch("[0-9]{1,12}", timestamp) or not given:
            raise WebhookVerificationError("The Service-Signature is not t=...,v1=....")
        return timestamp, f"{timestamp}.", given, False
    id, timestamp = headers.get("webhook-id"), headers.get("webhook-timestamp", "")
    standard = headers.get("webhook-signature")
    if not (id and timestamp and standard):
        raise WebhookVerificationError("The request has neither a Service-Signature nor webhook-... "
                                       "headers (id, timestamp, signature).")
    given = [base64.b64decode(one[len("v1,"):]) for one in standard.split(" ")
             if re.fullmatch("v1,[0-9A-Za-z+/]{43}=", one)]
    if not re.fullmatch("[0-9]{1,12}", timestamp) or not given:
        raise WebhookVerificationError("The webhook-signature is not v1,... with a timestamp.")
    return timestamp, f"{id}.{timestamp}.", given, True


def _decoded(secret: str) -> bytes:
    text = secret[len("whsec_"):] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise WebhookVerificationError("The secret is not whsec_ followed by base64.") from error
    if not key:
        # Anyone could sign with an empty key.
        raise WebhookVerificationError("The secret is empty: it begins with whsec_.")
    return key


class _Failure:
    """The result of an attempt that did not succeed."""

    def __init__(self, error: TaplineError, doubtful: bool, retry_after: int | None = None) -> None:
        self.error, self.doubtful, self.retry_after = error, doubtful, retry_after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        return None  # Following a redirect would send the key to another URL.


class _Ending(io.RawIOBase):
    """A connection's input that ends at a deadline, however many bytes arrive before then."""

    def __init__(self, sock: socket.socket, ends: float) -> None:
        # The connection closes the socket before the response is read, but not this input.
        self._sock, self._ends, self._input = sock, ends, sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_seconds_until(self._ends))
        return self._input.readinto(buffer)

    def close(self) -> None:
        self._input.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: Any, *args: Any, ends: float, **named: Any) -> None:
        super().__init__(sock, *args, **named)
        self.fp.close()
        self.fp = io.BufferedReader(_Ending(sock, ends))


class _Connection(http.client.HTTPConnection):
    """A connection whose timeout limits the whole attempt. A socket's limits each wait alone."""

    response_class: Any

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._ends = time.monotonic() + (self.timeout or 0)
        self.response_class = functools.partial(_Response, ends=self._ends)
        self._create_connection = self._open

    def _open(self, address: Tuple[str, int], *_: Any) -> socket.socket:
        failure: OSError = OSError(f"{address[0]} has no address")
        for *_family, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            try:
                sock = socket.create_connection(place[:2], _seconds_until(self._ends))
                sock.settimeout(_seconds_until(self._ends))
                return sock
            except OSError as error:
                failure = error
        raise failure


class _TLSConnection(_Connection, http.client.HTTPSConnection):
    pass


class _HTTPHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Connection, req)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_TLSConnection, req)


def _seconds_until(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


def _proxies(base_url: str) -> Dict[str, str]:
    """The environment's proxy for https, through a tunnel. Other proxies would read the key."""
    if re.match(r"https?://(localhost|127([.][0-9]+){3}|\[::1\])(:|/|$)", base_url, re.I):
        return {}
    return {name: url for name, url in urllib.request.getproxies().items() if name == "https"}


class Tapline:
    """A client for one account and mode.

    Without arguments it reads TAPLINE_API_KEY and TAPLINE_BASE_URL from the environment. `timeout`
    is the time limit of one attempt in seconds; `max_retries` counts the attempts after the first.
    """

    def __init__(self, api_key: str | None = None, base_url: str | None = None,
                 timeout: float = 70, max_retries: int = 3) -> None:
        # Never send the environment's key to a URL that the program passes, because that URL may
        # come from an untrusted file.
        if api_key is None and base_url is None:
            api_key = os.environ.get("TAPLINE_API_KEY") or None
        if api_key is None:
            raise UsageError("No secret key: set TAPLINE_API_KEY and TAPLINE_BASE_URL, or call "
                             "Tapline(key, base_url). TAPLINE_API_KEY is sent to TAPLINE_BASE_URL "
                             "only, or to the sandbox.")
        if base_url is None:
            base_url = os.environ.get("TAPLINE_BASE_URL") or None
        found = re.fullmatch("tlsk_(test|live)_[0-9A-Za-z]+", api_key)
        if found is None:
            raise UsageError("That is not a secret API key, which begins with tlsk_test_ or "
                             "tlsk_live_. (Terminal keys begin with tldk_, signing secrets with "
                             "whsec_.)")
        if found[1] == "live" and base_url is None:
            raise UsageError("A live key needs the base_url of its network: https://.../api. Pass "
                             "it or set TAPLINE_BASE_URL.")
        self._api_key, self._timeout, self._max_retries = api_key, timeout, max_retries
        self._base_url = re.sub("/v1$", "", (base_url or _SANDBOX).rstrip("/"))
        # Only a port or a path may follow the host: the text before an @ would be a user name.
        own = "http://(localhost|127([.][0-9]+){3}|\\[::1\\])(:[0-9]+)?(/.*)?"
        if found[1] == "live" and not re.fullmatch(f"https:.*|{own}", self._base_url, re.I):
            raise UsageError(f"A live key is sent over https only, not to {self._base_url}.")
        self._opener = urllib.request.build_opener(
            _NoRedirect, _HTTPHandler, _HTTPSHandler,
            urllib.request.ProxyHandler(_proxies(self._base_url)))
        self.payment_intents = _PaymentIntents(self, "/payment_intents")
        self.payments = _Readable(self, "/payments")
        self.refunds = _Refunds(self, "/refunds")
        self.terminals = _Readable(self, "/terminals")
        self.shifts = _Readable(self, "/shifts")
        self.events = _Readable(self, "/events")

    def request(self, method: str, path: str, body: Json | None = None,
                query: Json | None = None, idempotency_key: str | None = None,
                keyed: bool = False) -> Json:
        """Calls any operation of the API by its path below /v1.

        Set `keyed` if the service stores the response under the key, which makes retries safe.
        """
        for name, value in (body or {}).items():
            if isinstance(value, float):
                raise UsageError(f"{name} is {value} but must be an integer. Amounts are in USDC "
                                 "atoms: 2500000 is 2.50 USDC, which usdc('2.50') returns.", param=name)
        if path.startswith("/test_helpers") and self._api_key.startswith("tlsk_live"):
            raise UsageError("Test helpers simulate the customer in test mode only: use a "
                             "tlsk_test_... key.")
        key = (idempotency_key or str(uuid.uuid4())) if method == "POST" else None
        sent: _Sent = (method, path, body, query, key, keyed)
        retries, attempt, doubtful = self._max_retries, 0, False
        deadline = time.monotonic() + self._timeout
        while True:
            result = self._try_once(*sent)
            if not isinstance(result, _Failure):
                return result
            doubtful = doubtful or result.doubtful
            waits = result.error.code == _RUNNING and time.monotonic() < deadline
            if not waits:
                retries -= 1
            delay = self._delay(attempt, result, method, keyed) if waits or retries >= 0 else None
            if delay is None:
                refused = (result.error.type is not None and not result.doubtful
                           and result.error.status in (400, 404, 409))
                if doubtful and not refused:
                    raise self._unknown(sent, result.error)
                raise result.error
            time.sleep(delay)
            attempt += 1

    def _try_once(self, method: str, path: str, body: Json | None, query: Json | None,
                  key: str | None, keyed: bool) -> Json | _Failure:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        url = f"{self._base_url}/v1{path}" + ("?" + urllib.parse.urlencode(given) if given else "")
        headers = {"Authorization": f"Bearer {self._api_key}",
                   "User-Agent": f"tapline-python/{__version__}", "Service-Version": _API_VERSION}
        if key is not None:
            headers["Idempotency-Key"] = key
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                answer: Json = json.loads(response.read())
                return answer
        except urllib.error.HTTPError as error:
            try:
                return self._refused(error, error.read(), keyed)
            except (OSError, http.client.HTTPException) as lost:
                return self._lost(lost, keyed)
        except (OSError, ValueError, http.client.HTTPException) as error:
            return self._lost(error, keyed)

    def _lost(self, error: Exception, keyed: bool) -> _Failure:
        lost = ConnectionFailed(f"No response: {getattr(error, 'reason', None) or error}.")
        lost.__cause__ = error
        return _Failure(lost, keyed)

    def _refused(self, response: urllib.error.HTTPError, body: bytes, keyed: bool) -> _Failure:
        status = response.code
        try:
            error = json.loads(body)["error"]
            refusal = TaplineError(error["message"], status, error["type"], error["code"],
                                   error["param"], error["request_id"])
        except Exception:
            refusal = TaplineError(f"The response ({status}) is not from a Tapline API. Check "
                                   "base_url: it must end with /api.", status)
        # Only this code guarantees that nothing was done. After any other server error, the action
        # may have been performed.
        fault = status >= 500 and refusal.code != "service_unavailable"
        after = response.headers.get("Retry-After")
        doubtful = keyed and (fault or refusal.code == _RUNNING)
        return _Failure(refusal, doubtful, int(after) if after and after.isdigit() else None)

    def _delay(self, attempt: int, failure: _Failure, method: str, keyed: bool) -> float | None:
        """Returns the seconds until the next attempt; None if another one is unsafe or useless."""
        status, code = failure.error.status, failure.error.code
        lost = isinstance(failure.error, ConnectionFailed) or status in (500, 503)
        refused = status == 429 or code in ("service_unavailable", _RUNNING)
        if not refused and not (lost and (keyed or method in ("GET", "PATCH"))):
            return None
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= _LONGEST_RETRY_AFTER else None
        longest: float = min(0.15 * 2 ** attempt, 1 if code == _RUNNING else 8)
        return longest * random.uniform(0.5, 1)

    def _unknown(self, sent: _Sent, cause: TaplineError) -> OutcomeUnknownError:
        # Only keyed calls can have an unknown result, so there always is a key.
        key = sent[4] or ""
        return OutcomeUnknownError(
            str(cause), key, lambda: self._resolve_or_unknown(sent, cause), cause)

    def _resolve_or_unknown(self, sent: _Sent, cause: TaplineError) -> Json:
        try:
            return self._resolve(sent, cause)
        except OutcomeUnknownError:
            raise
        except TaplineError as error:
            # The service did not answer, so the result of the call is still unknown.
            silent = isinstance(error, ConnectionFailed) or error.status == 429
            if silent or (error.status or 0) >= 500:
                raise self._unknown(sent, cause) from error
            raise

    def _resolve(self, sent: _Sent, cause: TaplineError) -> Json:
        """Looks the key up. An unknown key proves no failure: the request may still arrive."""
        method, path, body, query, key, keyed = sent
        known: Json | None = None
        try:
            known = self.request(
                "GET", f"/idempotency_keys/{urllib.parse.quote(key or '', safe='')}")
        except TaplineError as error:
            if error.code != "resource_missing":
                raise
        if known is not None and known["status"] == "completed":
            resource = known["resource"] or ""
            where = {"pi": "/payment_intents", "re": "/refunds"}.get(resource.partition("_")[0])
            if where is not None and (known["response_status"] or 0) < 400:
                return self.request("GET", f"{where}/{resource}")
            # Replays the stored refusal without performing anything.
            return self.request(method, path, body, query, key, keyed)
        order_id = (body or {}).get("order_id")
        if known is None and order_id is not None and path == "/payment_intents":
            found = self.request("GET", path, query={"order_id": order_id, "limit": 1})["data"]
            if found:
                one: Json = found[0]
                return one
        raise self._unknown(sent, cause)


class _Readable:
    def __init__(self, client: Tapline, path: str) -> None:
        self._client, self._path = client, path

    def _one(self, id: str, *rest: str) -> str:
        if not isinstance(id, str) or id == "":
            raise UsageError("The id is missing.", param="id")
        return "/".join([self._path, urllib.parse.quote(id, safe=""), *rest])

    def retrieve(self, id: str) -> Json:
        return self._client.request("GET", self._one(id))

    def page(self, **query: Any) -> Json:
        """Returns one page: {"data": [...], "has_more": ..., "next_cursor": ...}."""
        return self._client.request("GET", self._path, query=query)

    def list(self, **query: Any) -> Iterator[Json]:
        """Yields all objects, newest first, and fetches pages as needed."""
        while True:
            page = self.page(**query)
            yield from page["data"]
            if not page["has_more"]:
                return
            query["cursor"] = page["next_cursor"]


class _PaymentIntents(_Readable):
    def create(self, idempotency_key: str | None = None, **body: Any) -> Json:
        """Takes amount, terminal, and optionally order_id, description, metadata, expires_in."""
        return self._client.request("POST", self._path, body, None, idempotency_key, True)

    def cancel(self, id: str, idempotency_key: str | None = None) -> Json:
        path = self._one(id, "cancel")
        return self._client.request("POST", path, None, None, idempotency_key, True)

    def confirm(self, id: str, agent_token: str, idempotency_key: str | None = None) -> Json:
        path, body = self._one(id, "confirm"), {"agent_token": agent_token}
        return self._client.request("POST", path, body, None, idempotency_key, True)

    def wait_for(self, id: str, timeout: float = 300, every: float = 1) -> Json:
        """Waits until the intent is paid or canceled, and returns it."""
        deadline = time.monotonic() + timeout
        while True:
            intent = self.retrieve(id)
            if intent["status"] in ("succeeded", "canceled"):
                return intent
            if time.monotonic() > deadline:
                raise TaplineError(f"{id} has not reached a final state after {timeout} s, but still "
                                   "may.")
            time.sleep(every)


class _Refunds(_Readable):
    def create(self, idempotency_key: str | None = None, **body: Any) -> Json:
        """Takes payment, and optionally amount (default: the rest), reason, metadata."""
        return self._client.request("POST", self._path, body, None, idempotency_key, True)


class AsyncTapline:
    """The same client for asyncio: `await tapline.payment_intents.create(...)`.

    Each call runs in a thread of the event loop's pool. `async for` iterates over a list.
    """

    def __init__(self, api_key: str | None = None, base_url: str | None = None,
                 timeout: float = 70, max_retries: int = 3) -> None:
        self._client = Tapline(api_key, base_url, timeout, max_retries)
        self.payment_intents = _AsyncPaymentIntents(self._client.payment_intents)
        self.payments = _AsyncReadable(self._client.payments)
        self.refunds = _AsyncRefunds(self._client.refunds)
        self.terminals = _AsyncReadable(self._client.terminals)
        self.shifts = _AsyncReadable(self._client.shifts)
        self.events = _AsyncReadable(self._client.events)

    async def request(self, method: str, path: str, body: Json | None = None,
                      query: Json | None = None, idempotency_key: str | None = None,
                      keyed: bool = False) -> Json:
        return await asyncio.to_thread(
            self._client.request, method, path, body, query, idempotency_key, keyed)


class _AsyncReadable:
    """A resource with async methods."""

    def __init__(self, resource: _Readable) -> None:
        self._readable = resource

    async def retrieve(self, id: str) -> Json:
        return await asyncio.to_thread(self._readable.retrieve, id)

    async def page(self, **query: Any) -> Json:
        return await asyncio.to_thread(self._readable.page, **query)

    async def list(self, **query: Any) -> AsyncIterator[Json]:
        while True:
            page = await self.page(**query)
            for one in page["data"]:
                yield one
            if not page["has_more"]:
                return
            query["cursor"] = page["next_cursor"]


class _AsyncPaymentIntents(_AsyncReadable):
    def __init__(self, resource: _PaymentIntents) -> None:
        super().__init__(resource)
        self._resource = resource

    async def create(self, idempotency_key: str | None = None, **body: Any) -> Json:
        return await asyncio.to_thread(self._resource.create, idempotency_key, **body)

    async def cancel(self, id: str, idempotency_key: str | None = None) -> Json:
        return await asyncio.to_thread(self._resource.cancel, id, idempotency_key)

    async def confirm(self, id: str, agent_token: str, idempotency_key: str | None = None) -> Json:
        return await asyncio.to_thread(self._resource.confirm, id, agent_token, idempotency_key)

    async def wait_for(self, id: str, timeout: float = 300, every: float = 1) -> Json:
        return await asyncio.to_thread(self._resource.wait_for, id, timeout, every)


class _AsyncRefunds(_AsyncReadable):
    def __init__(self, resource: _Refunds) -> None:
        super().__init__(resource)
        self._resource = resource

    async def create(self, idempotency_key: str | None = None, **body: Any) -> Json:
        return await asyncio.to_thread(self._resource.create, idempotency_key, **body)
