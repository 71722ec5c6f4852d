"""The client of a Tapline payment network, in one file and with the standard library alone.

    from tapline import Tapline, usdc

    tapline = Tapline()  # reads TAPLINE_API_KEY and TAPLINE_BASE_URL
    intent = tapline.payment_intents.create(amount=usdc("2.50"), terminal="tml_...", order_id="A-1")
    for payment in tapline.payments.list(status="succeeded"):
        print(payment["id"])

Every POST carries an Idempotency-Key, the same in every try of a call. A call whose outcome is not
known raises OutcomeUnknownError: ask with its resolve(), or send the same call with the same key
again. Never send it with another key. Python 3.9 or newer.
"""

import asyncio
import base64
import hashlib
import hmac
import http.client
import json
import os
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

__version__ = "0.1.0"
__all__ = [
    "AsyncTapline", "Tapline", "TaplineError", "ConnectionFailed", "OutcomeUnknownError",
    "UsageError", "WebhookVerificationError", "format_usdc", "order_id", "usdc", "verify",
]

# The dated version of the API that this file is written for: a key's own could differ.
_API_VERSION = "2026-09-28"
_SANDBOX = "http://127.0.0.1:4242/api"
_RUNNING = "idempotency_request_in_progress"
_LONGEST_RETRY_AFTER = 60
_WEBHOOK_TOLERANCE = 300


class TaplineError(Exception):
    """A refusal: branch on `code`; handle codes that you do not know by `type`."""

    def __init__(self, message, status=None, type=None, code=None, param=None, request_id=None):
        super().__init__(message)
        self.status, self.type, self.code = status, type, code
        self.param, self.request_id = param, request_id


class UsageError(TaplineError):
    """The call could not have worked, and nothing was sent."""


class ConnectionFailed(TaplineError):
    """No answer came to a call that moves no money."""


class WebhookVerificationError(TaplineError):
    """The message is not from the service, or too old. Answer 400 and do nothing."""


class OutcomeUnknownError(TaplineError):
    """Money may have moved or not. Ask with resolve(); never send the call with another key."""

    def __init__(self, why, idempotency_key, resolve, cause):
        super().__init__(
            f"{why} The outcome is not known: ask with resolve(), or send the same call with the "
            "same idempotency_key again. Never send it with another key.",
            status=cause.status, code=cause.code or "outcome_unknown", request_id=cause.request_id)
        self.idempotency_key = idempotency_key
        self.resolve = resolve


def usdc(amount):
    """USDC atoms of an amount in words: usdc("2.50") is 2500000."""
    text = amount if isinstance(amount, str) else ""
    found = re.fullmatch(r"([0-9]{1,9})(?:\.([0-9]{1,6}))?", text)
    if found is None:
        raise UsageError(f"usdc() was given {amount!r}. It takes text with at most 6 decimals and "
                         "a point: usdc('2.50').")
    return int(found[1] + (found[2] or "").ljust(6, "0"))


def format_usdc(atoms):
    """The other way: format_usdc(2500000) is "2.50"."""
    digits = str(abs(atoms)).rjust(7, "0")
    fraction = re.sub("0{1,4}$", "", digits[-6:])
    return f"{'-' if atoms < 0 else ''}{digits[:-6]}.{fraction}"


def order_id(order):
    """The order_id of an order of your shop: itself up to 8 characters, else 8 made from it.

    The same in all clients of Tapline. Should two orders ever get the same one, the second is
    refused with order_id_in_use; never are two orders paid as one.
    """
    if not isinstance(order, str) or order == "":
        raise UsageError(f"order_id() was given {order!r}. It takes text: order_id('order_01HZX').")
    if re.fullmatch("[A-Za-z0-9_-]{1,8}", order):
        return order
    value = 0xCBF29CE484222325
    for byte in order.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return base64.urlsafe_b64encode((value % 2**48 ^ value >> 48).to_bytes(6, "big")).decode()


def verify(raw_body, headers, secret, tolerance=_WEBHOOK_TOLERANCE, now=None):
    """The event of a webhook, once its signature and age are proved.

    `raw_body` is the bytes as they came; `headers` any mapping of header names to values.
    """
    if not isinstance(raw_body, (bytes, str)):
        raise WebhookVerificationError("The body was parsed already. Give verify() the raw bytes: "
                                       "in Flask request.get_data(), in Django request.body.")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    header = next((v for k, v in headers.items() if k.lower() == "service-signature"), None)
    if header is None:
        raise WebhookVerificationError("There is no Service-Signature header.")
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    timestamp = next((value for name, value in parts if name == "t"), "")
    given = [v for n, v in parts if n == "v1" and re.fullmatch("[0-9a-f]{64}", v)]
    if not re.fullmatch("[0-9]+", timestamp) or not given:
        raise WebhookVerificationError("The Service-Signature header is not t=...,v1=....")
    if not secret:
        raise WebhookVerificationError("The secret is empty: it begins with whsec_.")
    if not abs((time.time() if now is None else now) - int(timestamp)) <= tolerance:
        raise WebhookVerificationError("The signature is too old, or this clock is wrong.")
    signed = f"{timestamp}.".encode() + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not any([hmac.compare_digest(expected, one) for one in given]):
        raise WebhookVerificationError("The signature does not fit: another secret, or a "
                                       "changed body.")
    return json.loads(body)


class _Failure:
    """What one try came to, when it came to no success."""

    def __init__(self, error, doubtful, retry_after=None):
        self.error, self.doubtful, self.retry_after = error, doubtful, retry_after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None  # A redirect would carry the key to another address.


class Tapline:
    """A client of one account and mode.

    Without arguments it takes TAPLINE_API_KEY and TAPLINE_BASE_URL from the environment.
    """

    def __init__(self, api_key=None, base_url=None, timeout=70, max_retries=3):
        # An address that the program gives may come from a file: the environment's key stays away.
        if api_key is None and base_url is None:
            api_key = os.environ.get("TAPLINE_API_KEY") or None
        if api_key is None:
            raise UsageError("No secret key: set TAPLINE_API_KEY and TAPLINE_BASE_URL, or say "
                             "Tapline(key, base_url). TAPLINE_API_KEY is sent to TAPLINE_BASE_URL "
                             "only, or to the sandbox.")
        if base_url is None:
            base_url = os.environ.get("TAPLINE_BASE_URL") or None
        found = re.fullmatch("tlsk_(test|live)_[0-9A-Za-z]+", api_key)
        if found is None:
            raise UsageError("That is not a secret key of the API: it begins with tlsk_test_ or "
                             "tlsk_live_.")
        if found[1] == "live" and base_url is None:
            raise UsageError("A live key needs the base_url of its network: https://.../api: give it, or "
                             "set TAPLINE_BASE_URL.")
        self._api_key, self._timeout, self._max_retries = api_key, timeout, max_retries
        self._base_url = re.sub("/v1$", "", (base_url or _SANDBOX).rstrip("/"))
        self._opener = urllib.request.build_opener(_NoRedirect)
        self.payment_intents = _PaymentIntents(self, "/payment_intents")
        self.payments = _Readable(self, "/payments")
        self.refunds = _Refunds(self, "/refunds")
        self.terminals = _Readable(self, "/terminals")
        self.events = _Readable(self, "/events")

    def request(self, method, path, body=None, query=None, idempotency_key=None, keyed=False):
        """Any operation of the API by its path below /v1. The resources are made of this.

        `keyed` says that the service keeps the answer under the key, so that it may be repeated.
        """
        for name, value in (body or {}).items():
            if isinstance(value, float):
                raise UsageError(f"{name} is {value}, and has to be an integer. Amounts are in "
                                 "USDC atoms: usdc('2.50').", param=name)
        if path.startswith("/test_helpers") and self._api_key.startswith("tlsk_live"):
            raise UsageError("Test helpers play the customer in test mode: use a tlsk_test_... "
                             "key.")
        key = (idempotency_key or str(uuid.uuid4())) if method == "POST" else None
        sent = (method, path, body, query, key, keyed)
        retries, attempt, doubtful = self._max_retries, 0, False
        patient_until = time.monotonic() + self._timeout
        while True:
            result = self._try_once(*sent)
            if not isinstance(result, _Failure):
                return result
            doubtful = doubtful or result.doubtful
            waits = result.error.code == _RUNNING and time.monotonic() < patient_until
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

    def _try_once(self, method, path, body, query, key, keyed):
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
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            return self._refused(error, keyed)
        except (OSError, ValueError, http.client.HTTPException) as error:
            return self._lost(error, keyed)

    def _lost(self, error, keyed):
        lost = ConnectionFailed(f"No answer: {getattr(error, 'reason', None) or error}.")
        lost.__cause__ = error
        return _Failure(lost, keyed)

    def _refused(self, response, keyed):
        status = response.code
        try:
            error = json.loads(response.read())["error"]
            refusal = TaplineError(error["message"], status, error["type"], error["code"],
                                   error["param"], error["request_id"])
        except Exception:
            refusal = TaplineError(f"The answer ({status}) is not from a Tapline API. Check "
                                   "base_url: it ends with /api.", status)
        # "Nothing was done" is said by this code alone; another fault may have come after the deed.
        fault = status >= 500 and refusal.code != "service_unavailable"
        after = response.headers.get("Retry-After")
        doubtful = keyed and (fault or refusal.code == _RUNNING)
        return _Failure(refusal, doubtful, int(after) if (after or "").isdigit() else None)

    def _delay(self, attempt, failure, method, keyed):
        """Seconds before the next try; None where another one is not safe, or no use."""
        status, code = failure.error.status, failure.error.code
        lost = isinstance(failure.error, ConnectionFailed) or status in (500, 503)
        refused = status == 429 or code in ("service_unavailable", _RUNNING)
        if not refused and not (lost and (keyed or method in ("GET", "PATCH"))):
            return None
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= _LONGEST_RETRY_AFTER else None
        return min(0.15 * 2 ** attempt, 1 if code == _RUNNING else 8) * random.uniform(0.5, 1)

    def _unknown(self, sent, cause):
        resolve = lambda: self._resolve_or_unknown(sent, cause)
        return OutcomeUnknownError(str(cause), sent[4], resolve, cause)

    def _resolve_or_unknown(self, sent, cause):
        try:
            return self._resolve(sent, cause)
        except OutcomeUnknownError:
            raise
        except TaplineError as error:
            # Who could not be asked has said nothing of the request.
            silent = isinstance(error, ConnectionFailed) or error.status == 429
            if silent or (error.status or 0) >= 500:
                raise self._unknown(sent, cause) from error
            raise

    def _resolve(self, sent, cause):
        """Only reads. A key that the service does not know means unknown, not failed."""
        method, path, body, query, key, keyed = sent
        try:
            known = self.request("GET", f"/idempotency_keys/{urllib.parse.quote(key, safe='')}")
        except TaplineError as error:
            if error.code != "resource_missing":
                raise
            known = None
        if known is not None and known["status"] == "completed":
            resource = known["resource"] or ""
            where = {"pi": "/payment_intents", "re": "/refunds"}.get(resource.partition("_")[0])
            if where is not None and (known["response_status"] or 0) < 400:
                return self.request("GET", f"{where}/{resource}")
            # The stored refusal comes again, and nothing runs.
            return self.request(method, path, body, query, key, keyed)
        order_id = (body or {}).get("order_id")
        if known is None and order_id is not None and path == "/payment_intents":
            found = self.request("GET", path, query={"order_id": order_id, "limit": 1})["data"]
            if found:
                return found[0]
        raise self._unknown(sent, cause)


class _Readable:
    def __init__(self, client, path):
        self._client, self._path = client, path

    def _one(self, id, *rest):
        if not isinstance(id, str) or id == "":
            raise UsageError("The id is missing.", param="id")
        return "/".join([self._path, urllib.parse.quote(id, safe=""), *rest])

    def retrieve(self, id):
        return self._client.request("GET", self._one(id))

    def page(self, **query):
        """One page: {"data": [...], "has_more": ..., "next_cursor": ...}."""
        return self._client.request("GET", self._path, query=query)

    def list(self, **query):
        """All objects, newest first; pages are fetched as they are needed."""
        while True:
            page = self.page(**query)
            yield from page["data"]
            if not page["has_more"]:
                return
            query["cursor"] = page["next_cursor"]


class _PaymentIntents(_Readable):
    def create(self, idempotency_key=None, **body):
        """amount, terminal, and optionally order_id, description, metadata, expires_in."""
        return self._client.request("POST", self._path, body, None, idempotency_key, True)

    def cancel(self, id, idempotency_key=None):
        path = self._one(id, "cancel")
        return self._client.request("POST", path, None, None, idempotency_key, True)

    def confirm(self, id, agent_token, idempotency_key=None):
        path, body = self._one(id, "confirm"), {"agent_token": agent_token}
        return self._client.request("POST", path, body, None, idempotency_key, True)

    def wait_for(self, id, timeout=300, every=1):
        """Waits until the intent is paid or canceled, and returns it."""
        deadline = time.monotonic() + timeout
        while True:
            intent = self.retrieve(id)
            if intent["status"] in ("succeeded", "canceled"):
                return intent
            if time.monotonic() > deadline:
                raise TaplineError(f"{id} has not come to an end in {timeout} s. It may yet.")
            time.sleep(every)


class _Refunds(_Readable):
    def create(self, idempotency_key=None, **body):
        """payment, and optionally amount (default: all that is left), reason, metadata."""
        return self._client.request("POST", self._path, body, None, idempotency_key, True)


class AsyncTapline:
    """The same client for asyncio: `await tapline.payment_intents.create(...)`.

    Each call runs in a thread of the loop's own pool. `async for` walks a list.
    """

    def __init__(self, api_key=None, base_url=None, timeout=70, max_retries=3):
        self._client = Tapline(api_key, base_url, timeout, max_retries)
        self.payment_intents = _Awaited(self._client.payment_intents)
        self.payments = _Awaited(self._client.payments)
        self.refunds = _Awaited(self._client.refunds)
        self.terminals = _Awaited(self._client.terminals)
        self.events = _Awaited(self._client.events)

    async def request(self, *args, **kwargs):
        return await asyncio.to_thread(self._client.request, *args, **kwargs)


class _Awaited:
    """A resource whose methods are awaited."""

    def __init__(self, resource):
        self._resource = resource

    def __getattr__(self, name):
        method = getattr(self._resource, name)

        async def call(*args, **kwargs):
            return await asyncio.to_thread(method, *args, **kwargs)

        return call

    async def list(self, **query):
        while True:
            page = await asyncio.to_thread(self._resource.page, **query)
            for one in page["data"]:
                yield one
            if not page["has_more"]:
                return
            query["cursor"] = page["next_cursor"]
