"""Run by test/examples: python3 test_tapline.py <base_url> <api_key> <terminal>"""

import asyncio
import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import threading
import time
import unittest
import unittest.mock

from tapline import (AsyncTapline, ConnectionFailed, OutcomeUnknownError, Tapline, TaplineError, UsageError,
                     WebhookVerificationError, format_usdc, order_id, usdc, verify)

BASE_URL, API_KEY, TERMINAL = sys.argv[1:4]
tapline = Tapline(API_KEY, base_url=BASE_URL)


def tap(intent):
    body = {"payment_intent": intent["id"]}
    tapline.request("POST", f"/test_helpers/terminals/{TERMINAL}/tap", body, keyed=True)


class Sale(unittest.TestCase):
    def test_a_sale_can_be_paid_and_refunded(self):
        intent = tapline.payment_intents.create(amount=usdc("2.50"), terminal=TERMINAL)
        tap(intent)
        paid = tapline.payment_intents.wait_for(intent["id"], timeout=30, every=0.1)
        self.assertEqual(paid["status"], "succeeded")
        self.assertEqual(tapline.payments.retrieve(paid["payment"])["amount"], 2500000)
        found = list(tapline.payments.list(payment_intent=intent["id"]))
        self.assertEqual([one["id"] for one in found], [paid["payment"]])
        refund = tapline.refunds.create(payment=paid["payment"], reason="changed mind")
        self.assertIn(refund["status"], ("succeeded", "pending"))
        with self.assertRaises(TaplineError) as refused:
            tapline.refunds.create(payment=paid["payment"])
        self.assertEqual(refused.exception.code, "payment_already_refunded")

    def test_lists_fetch_their_pages(self):
        ids = [tapline.payment_intents.create(amount=1, terminal=TERMINAL)["id"] for _ in range(3)]
        listed = []
        for intent in tapline.payment_intents.list(limit=1, terminal=TERMINAL):
            listed.append(intent["id"])
            if len(listed) == 3:
                break
        self.assertEqual(listed, ids[::-1])

    def test_the_same_key_returns_the_same_payment(self):
        asked = dict(amount=1000000, terminal=TERMINAL, idempotency_key="python-order-1")
        first = tapline.payment_intents.create(**asked)
        self.assertEqual(tapline.payment_intents.create(**asked)["id"], first["id"])
        self.assertEqual(tapline.payment_intents.cancel(first["id"])["status"], "canceled")


class Faults(unittest.TestCase):
    """A service that sends the responses of a script."""

    def setUp(self):
        self.seen, self.script = [], []
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                test.seen.append((self.command, self.path, self.headers.get("Idempotency-Key")))
                step = test.script.pop(0) if len(test.script) > 1 else test.script[0]
                if step == "cut":
                    self.close_connection = True
                    return
                status, body = step
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = answer

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        base_url = f"http://127.0.0.1:{self.server.server_port}/api"
        self.client = Tapline(API_KEY, base_url=base_url, max_retries=2)

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def refusal(self, status, type, code):
        return (status, {"error": {"type": type, "code": code, "message": code, "param": None,
                                   "request_id": "req_1", "doc_url": ""}})

    def test_all_attempts_of_a_call_send_the_same_key(self):
        broken = self.refusal(500, "api_error", "internal_error")
        self.script = ["cut", broken, (201, {"id": "re_1"})]
        self.assertEqual(self.client.refunds.create(payment="pay_1"), {"id": "re_1"})
        self.assertEqual(len(self.seen), 3)
        self.assertEqual(len({key for _, _, key in self.seen}), 1)

    def test_a_lost_response_is_unknown_until_resolved(self):
        self.script = ["cut"]
        with self.assertRaises(OutcomeUnknownError) as lost:
            self.client.payment_intents.create(amount=1, terminal="tml_1", order_id="A")
        missing = self.refusal(404, "invalid_request_error", "resource_missing")
        self.script = [missing, (200, {"data": []})]
        with self.assertRaises(OutcomeUnknownError):
            lost.exception.resolve()
        self.script = [missing, (200, {"data": [{"id": "pi_1"}]})]
        self.assertEqual(lost.exception.resolve(), {"id": "pi_1"})
        known = {"status": "completed", "resource": "pi_1", "response_status": 201}
        self.script = [(200, known), (200, {"id": "pi_1", "status": "succeeded"})]
        self.seen.clear()
        self.assertEqual(lost.exception.resolve()["status"], "succeeded")
        self.assertTrue(all(method == "GET" for method, _, _ in self.seen))

    def test_a_read_never_has_an_unknown_result(self):
        self.script = ["cut"]
        with self.assertRaises(ConnectionFailed):
            self.client.payments.retrieve("pay_1")

    def test_a_refused_call_is_not_retried(self):
        self.script = [self.refusal(409, "invalid_request_error", "order_id_in_use")]
        with self.assertRaises(TaplineError):
            self.client.payment_intents.create(amount=1, terminal="tml_1")
        self.assertEqual(len(self.seen), 1)


class Async(unittest.TestCase):
    def test_calls_can_be_awaited_and_lists_iterated(self):
        async def sell():
            client = AsyncTapline(API_KEY, base_url=BASE_URL)
            asked = [client.payment_intents.create(amount=1, terminal=TERMINAL) for _ in range(3)]
            made = {intent["id"] for intent in await asyncio.gather(*asked)}
            listed = set()
            async for intent in client.payment_intents.list(limit=1, terminal=TERMINAL):
                listed.add(intent["id"])
                if len(listed) == 3:
                    return made, listed

        made, listed = asyncio.run(sell())
        self.assertEqual(made, listed)


class Environment(unittest.TestCase):
    def test_the_key_is_sent_only_to_the_url_of_the_environment(self):
        with unittest.mock.patch.dict(os.environ, {}, clear=True):
            with self.assertRaisesRegex(UsageError, "set TAPLINE_API_KEY and TAPLINE_BASE_URL"):
                Tapline()
            os.environ.update(TAPLINE_API_KEY=API_KEY, TAPLINE_BASE_URL=BASE_URL)
            self.assertIn("available", Tapline().request("GET", "/balance"))
            self.assertIn("available", Tapline(API_KEY).request("GET", "/balance"))
            with self.assertRaisesRegex(UsageError, "sent to TAPLINE_BASE_URL only"):
                Tapline(base_url="http://127.0.0.1:1/api")


class BadInput(unittest.TestCase):
    def test_the_message_names_the_remedy(self):
        cases = [
            (lambda: usdc("2,50"), r"usdc\('2.50'\)"),
            (lambda: usdc(2.5), r"usdc\('2.50'\)"),
            (lambda: tapline.refunds.create(payment="pay_1", amount=2.5), "must be an integer"),
            (lambda: tapline.payments.retrieve(""), "id is missing"),
            (lambda: Tapline("tldk_test_x"), "begins with tlsk_test_"),
            (lambda: Tapline("tlsk_live_x"), "needs the base_url"),
            (lambda: Tapline("tlsk_live_x", "https://x/api").request("POST", "/test_helpers/x"),
             "use a tlsk_test_"),
            (lambda: Tapline("tlsk_live_x", "http://x/api"), "over https only"),
            (lambda: Tapline("tlsk_live_x", "http://127.0.0.1:80@x/api"), "over https only"),
            (lambda: Tapline("tlsk_live_x", "http://localhost.x/api"), "over https only"),
        ]
        for act, words in cases:
            with self.assertRaisesRegex(UsageError, words):
                act()

    def test_plain_http_is_allowed_for_this_machine_and_test_keys_only(self):
        for address in ("http://localhost/api", "http://127.0.0.1:4242", "http://[::1]:1/api"):
            self.assertIsNotNone(Tapline("tlsk_live_x", address))
        self.assertIsNotNone(Tapline("tlsk_test_x", "http://x/api"))

    def test_order_ids_match_those_of_the_other_clients(self):
        self.assertEqual([order_id("A-1001"), order_id("order_01HZX3V0M7"),
                          order_id("Bestellung Nr. 12 – Köln")], ["A-1001", "r-Nyt8hN", "9uMFAlKK"])
        with self.assertRaisesRegex(UsageError, "takes a string"):
            order_id(1001)

    def test_amounts_are_exact(self):
        self.assertEqual([usdc("2.50"), usdc("0.000001"), usdc("10")], [2500000, 1, 10000000])
        self.assertEqual([format_usdc(2500000), format_usdc(1), format_usdc(-1)],
                         ["2.50", "0.000001", "-0.000001"])


class Webhooks(unittest.TestCase):
    secret, body = "whsec_x", b'{"id": "evt_1", "type": "ping"}'

    def sign(self, at):
        signed = f"{at}.".encode() + self.body
        return f"t={at},v1={hmac.new(self.secret.encode(), signed, hashlib.sha256).hexdigest()}"

    def test_a_valid_message_returns_its_event(self):
        headers = {"Service-Signature": self.sign(int(time.time()))}
        self.assertEqual(verify(self.body, headers, self.secret)["id"], "evt_1")

    def test_invalid_messages_are_refused(self):
        good = {"service-signature": self.sign(int(time.time()))}
        old = {"service-signature": self.sign(int(time.time()) - 301)}
        for body, headers, secret in [(self.body, good, "whsec_y"), (b"{}", good, self.secret),
                                      (self.body, old, self.secret), (self.body, {}, self.secret),
                                      (self.body, {"service-signature": "t=1"}, self.secret),
                                      ({"id": "evt_1"}, good, self.secret), (self.body, good, "")]:
            with self.assertRaises(WebhookVerificationError):
                verify(body, headers, secret)


class StandardWebhooks(unittest.TestCase):
    key, body = b"k" * 32, b'{"id": "evt_1", "type": "ping"}'
    secret = "whsec_" + base64.b64encode(key).decode()

    def headers(self, at=None, **changed):
        at = str(int(time.time()) if at is None else at)
        digest = hmac.new(self.key, f"evt_1.{at}.".encode() + self.body, hashlib.sha256).digest()
        other = base64.b64encode(bytes(32)).decode()
        headers = {"Webhook-Id": "evt_1", "WEBHOOK-TIMESTAMP": at,
                   "webhook-signature": f"v1,{other} v1,{base64.b64encode(digest).decode()}"}
        return {**headers, **{name.replace("_", "-"): value for name, value in changed.items()}}

    def test_a_valid_message_returns_its_event_in_any_header_case(self):
        self.assertEqual(verify(self.body, self.headers(), self.secret)["id"], "evt_1")
        self.assertEqual(verify(self.body.decode(), self.headers(5), self.secret, now=9)["id"],
                         "evt_1")

    def test_the_example_of_the_specification_is_valid(self):
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        headers = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
                   "webhook-timestamp": "1614265330",
                   "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}
        event = verify(b'{"test": 2432232314}', headers, secret, now=1614265330)
        self.assertEqual(event, {"test": 2432232314})

    def test_invalid_messages_are_refused(self):
        cases = [
            (self.headers(Webhook_Id="evt_2"), self.secret, "does not match"),
            (self.headers(int(time.time()) - 301), self.secret, "too old"),
            (self.headers(webhook_signature="v1a,AAAA"), self.secret, "is not v1"),
            (self.headers(**{"WEBHOOK_TIMESTAMP": "9" * 5000}), self.secret, "is not v1"),
            (self.headers(**{"WEBHOOK_TIMESTAMP": ""}), self.secret, "nor webhook-"),
            ({**self.headers(), "Service-Signature": "t=1,v1=" + "0" * 64}, self.secret, "too old"),
            (self.headers(), "whsec_ü", "followed by base64"),
            (self.headers(), "whsec_", "secret is empty"),
            (self.headers(), "", "secret is empty"),
        ]
        for headers, secret, words in cases:
            with self.assertRaisesRegex(WebhookVerificationError, words):
                verify(self.body, headers, secret)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
