"""Verifies a Tapline webhook without the package: python3 verify.py <secret> <header> < body"""

import hashlib
import hmac
import json
import sys
import time


def verify_webhook(raw_body, header, secret):
    """The event, or None when the message is not from the network or older than five minutes."""
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in parts if name == "t"]
    timestamp = times[0] if len(times) == 1 else ""
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(time.time() - int(timestamp)) > 300:
        return None
    signed = timestamp.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    given = [value for name, value in parts if name == "v1" and value.isascii()]
    if not any(hmac.compare_digest(expected, one) for one in given):
        return None
    return json.loads(raw_body)


event = verify_webhook(sys.stdin.buffer.read(), sys.argv[2], sys.argv[1])
if event is None:
    sys.exit(1)
print(event["type"])
