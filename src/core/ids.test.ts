import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ID_PREFIXES, type IdKind, idTime, isId, newId } from '#core/ids.ts';

const AT = new Date('2026-10-01T12:00:00.000Z');
const KINDS = Object.keys(ID_PREFIXES) as IdKind[];

test('the prefixes are those of the API', () => {
  const { paymentIntent, payment, refund, terminal, event } = ID_PREFIXES;
  assert.deepEqual(
    [paymentIntent, payment, refund, terminal, event],
    ['pi_', 'pay_', 're_', 'tml_', 'evt_'],
  );
  const { webhookEndpoint, webhookDelivery, account, user, apiKey, payer, pass } = ID_PREFIXES;
  assert.deepEqual([webhookEndpoint, webhookDelivery], ['we_', 'wdl_']);
  assert.deepEqual(
    [account, user, apiKey, payer, pass],
    ['acct_', 'usr_', 'key_', 'pyr_', 'pass_'],
  );
  assert.equal(ID_PREFIXES.withdrawal, 'wdr_');
});

test('an id is recognized as its own kind and as no other', () => {
  for (const kind of KINDS) {
    const id = newId(kind, AT);
    assert.deepEqual(
      KINDS.filter((other) => isId(other, id)),
      [kind],
    );
  }
});

test('ids of later times sort after those of earlier times, byte by byte', () => {
  const times = fc.integer({ min: 0, max: 2 ** 42 });
  fc.assert(
    fc.property(times, times, (a, b) => {
      fc.pre(a !== b);
      const [earlier, later] = [Math.min(a, b), Math.max(a, b)];
      assert.ok(newId('event', new Date(earlier)) < newId('event', new Date(later)));
    }),
  );
});

test('ten thousand ids of one millisecond are all different', () => {
  const ids = new Set(Array.from({ length: 10_000 }, () => newId('payment', AT)));
  assert.equal(ids.size, 10_000);
});

test('the random part cannot be predicted from the previous id', () => {
  const [a, b] = [newId('payment', AT), newId('payment', AT)].map((id) => id.slice(-12));
  assert.notEqual(a, b);
});

test('the time of an id can be decoded to the millisecond', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 42 }), (ms) => {
      assert.equal(idTime('event', newId('event', new Date(ms)))?.getTime(), ms);
    }),
  );
});

test('other formats are not ids and have no time', () => {
  const id = newId('event', AT);
  const wrong = ['', 'evt_', id.slice(0, -1), `${id}0`, `${id.slice(0, -1)}-`, id.toUpperCase()];
  for (const text of [...wrong, newId('payment', AT), ` ${id}`, `${id}\n`]) {
    assert.equal(isId('event', text), false, JSON.stringify(text));
    assert.equal(idTime('event', text), null, JSON.stringify(text));
  }
});
