import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { constructEvent } from '#testkit/fixtures/webhooks/stripe-webhooks.ts';
import { newSigningSecret, sign, signingKey } from '#webhooks/sign-delivery.ts';

const body = Buffer.from('{"id":"evt_1","object":"event","label":"Zürich €"}');
const now = () => Math.floor(Date.now() / 1000);

function signed(secrets: readonly string[], seconds = now()) {
  const signatures = sign({ eventId: 'evt_1', seconds, body }, secrets.map(signingKey));
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.standard,
  };
  return { ...signatures, headers };
}

describe('signatures', () => {
  test('a secret is whsec_ and base64 of 32 random bytes', () => {
    const secret = newSigningSecret();
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Buffer.from(secret.slice(6), 'base64').length, 32);
    assert.notEqual(newSigningSecret(), secret);
  });

  test('both forms verify with the packages that receivers use', () => {
    const secret = newSigningSecret();
    const { service, headers } = signed([secret]);
    assert.equal(constructEvent(body, service, secret).id, 'evt_1');
    assert.deepEqual(new Webhook(secret).verify(body.toString(), headers), JSON.parse(`${body}`));
  });

  test('after a rotation a receiver with either secret accepts, and no other', () => {
    const [fresh, old, foreign] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
    const { service, headers } = signed([fresh, old]);
    for (const secret of [fresh, old]) {
      assert.ok(constructEvent(body, service, secret));
      assert.ok(new Webhook(secret).verify(body.toString(), headers));
    }
    assert.throws(() => constructEvent(body, service, foreign));
    assert.throws(() => new Webhook(foreign).verify(body.toString(), headers));
  });

  test('a changed body, id or time invalidates them', () => {
    const secret = newSigningSecret();
    const { service, headers } = signed([secret]);
    const changed = `${body} `;
    const later = service.replace(/t=\d+/, `t=${now() + 1}`);
    assert.throws(() => constructEvent(changed, service, secret));
    assert.throws(() => constructEvent(body, later, secret));
    const webhook = new Webhook(secret);
    assert.throws(() => webhook.verify(changed, headers));
    assert.throws(() => webhook.verify(`${body}`, { ...headers, 'webhook-id': 'evt_2' }));
  });

  test('a delivery recorded and sent again after 300 s is too old for receivers', () => {
    const secret = newSigningSecret();
    const { service, headers } = signed([secret], now() - 301);
    assert.throws(() => constructEvent(body, service, secret, 300));
    assert.throws(() => new Webhook(secret).verify(body.toString(), headers));
  });
});
