"""A merchant's server in one file, with python/tapline beside it. Python 3.9 or newer.

  npm start                                            in one window: the sandbox
  python3 examples/merchant_server.py                  in another one
  curl -X POST http://127.0.0.1:8791/orders -d '{"order": "A-1001", "amount": "2.50"}'
  npx tapline tap                                      the customer pays
  curl http://127.0.0.1:8791/orders/A-1001             and the order says so
"""

import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
from tapline import Tapline, TaplineError, WebhookVerificationError, usdc, verify  # noqa: E402

data_dir = os.environ.get("TAPLINE_DATA_DIR", ".tapline")
sandbox = json.loads(Path(data_dir, "sandbox.json").read_text())
tapline = Tapline(sandbox["test"]["secret_key"], sandbox["base_url"])
terminal = sandbox["test"]["terminal"]

# A real server keeps both in its database: orders, and the newest event of each payment.
orders = {}
newest = {}

STATUSES = {
    "succeeded": "paid",
    "partially_refunded": "partly refunded",
    "refunded": "refunded",
}


def request_payment(order, amount):
    """The key is made from the order: asking twice for one order makes one payment intent."""
    intent = tapline.payment_intents.create(
        amount=usdc(amount),
        terminal=terminal,
        order_id=order,
        idempotency_key=f"order-{order}",
    )
    known = orders.setdefault(order, {"status": "waiting"})
    return {**known, "payment_intent": intent["id"]}


def apply(event):
    """Deliveries may come twice and in any order: only what is newer than the last one counts."""
    if not event["type"].startswith("payment."):
        return
    payment = event["data"]["object"]
    if event["sequence"] <= newest.get(payment["id"], 0):
        return
    newest[payment["id"]] = event["sequence"]
    status = STATUSES.get(payment["status"], payment["status"])
    orders[payment["order_id"]] = {"status": status, "payment": payment["id"]}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        order = orders.get(self.path.removeprefix("/orders/"))
        self.answer(404 if order is None else 200, order or {"error": "no such order"})

    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            if self.path == "/orders":
                return self.answer(201, request_payment(**json.loads(raw_body)))
            # The signature covers the bytes as they came: verify before parsing.
            apply(verify(raw_body, self.headers, endpoint["secret"]))
            self.answer(200, {"received": True})
        except WebhookVerificationError as error:
            self.answer(400, {"error": str(error)})
        except TaplineError as error:
            self.answer(502, {"error": str(error)})

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("EXAMPLE_PORT", 8791))), Handler)
address = f"http://127.0.0.1:{server.server_address[1]}"
# Shown once: a real server stores the secret and reuses its endpoint.
endpoint = tapline.request(
    "POST",
    "/webhook_endpoints",
    {"url": f"{address}/webhooks", "enabled_events": ["payment.*"]},
)
print(f"listening on {address}", flush=True)


def stop(*_):
    tapline.request("DELETE", f"/webhook_endpoints/{endpoint['id']}")
    os._exit(0)


signal.signal(signal.SIGTERM, stop)
server.serve_forever()
