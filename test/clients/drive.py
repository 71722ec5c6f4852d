"""Does what test/clients/conformance.test.ts says, a line of JSON each, and says what came of it."""

import asyncio
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))
from tapline import (AsyncTapline, ConnectionFailed, OutcomeUnknownError, Tapline, TaplineError,
                     verify)

RETURNED = [{"line": 0, "quantity": 1}, {"line": 1, "quantity": "0.350"}]
ORDER = dict(amount=2500000, terminal="tml_1", order_id="A-1")


def call_of(tapline, asked):
    key = asked.get("key")
    endpoint = {"url": "https://shop.example", "enabled_events": ["*"]}
    return {
        "create": lambda: tapline.payment_intents.create(idempotency_key=key, **ORDER),
        "refund": lambda: tapline.refunds.create(payment="pay_1", line_items=RETURNED),
        "retrieve": lambda: tapline.payments.retrieve("pay_1"),
        "register": lambda: tapline.request("POST", "/webhook_endpoints", endpoint),
    }[asked["call"]]


class Headers:
    """As http.server and Flask give them: a name that was sent twice comes twice."""

    def __init__(self, pairs):
        self.pairs = pairs

    def items(self):
        return self.pairs


def outcome_of(act):
    try:
        made = act()
        return {"outcome": "ok", "id": made["id"], "line_items": made.get("line_items")}, None
    except OutcomeUnknownError as error:
        return {"outcome": "unknown", "key": error.idempotency_key}, error
    except ConnectionFailed:
        return {"outcome": "no_answer"}, None
    except TaplineError as error:
        return {"outcome": "refused", "status": error.status, "code": error.code}, None


is_async, error = sys.argv[1] == "async", None
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("resolve"):
        result, error = outcome_of(error.resolve)
    elif "verify" in asked:
        message = asked["verify"]
        result, _ = outcome_of(lambda: verify(message["body"], Headers(message["headers"]),
                                              message["secret"]))
    else:
        made = AsyncTapline if is_async else Tapline
        tapline = made(asked["api_key"], base_url=asked["base_url"],
                       timeout=asked["timeout"], max_retries=asked["retries"])
        call = call_of(tapline, asked)
        result, error = outcome_of((lambda: asyncio.run(call())) if is_async else call)
    print(json.dumps(result), flush=True)
