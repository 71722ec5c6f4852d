import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  cellOfId,
  derivedOrderId,
  idTime,
  isId,
  NUMBERS_PER_CELL,
  type NumberedKind,
  newId,
  numberedId,
  numberOfId,
  refundId,
  refundOfReceiptToken,
  refundReceiptToken,
  refundReference,
  toIdKey,
  withdrawalId,
  withdrawalNumber,
} from '#core/ids.ts';

const KEY = toIdKey(Buffer.alloc(32, 7));
const OTHER_KEY = toIdKey(Buffer.alloc(32, 8));
const KINDS: readonly NumberedKind[] = ['paymentIntent', 'payment', 'receipt'];
const REQUEST = { tenant: { accountId: 'acct_1', livemode: false }, caller: '', key: 'k1' };
const numbers = fc.bigInt({ min: 1n, max: 62n ** 9n - 1n });

test('an id decodes to the number that it was derived from, for any kind and network', () => {
  fc.assert(
    fc.property(numbers, fc.constantFrom(...KINDS), fc.boolean(), (number, kind, livemode) => {
      const id = numberedId(KEY, kind, { livemode, number });
      assert.equal(numberOfId(KEY, kind, { livemode, id }), number);
    }),
  );
});

test('an id of another key, kind or network has no number', () => {
  fc.assert(
    fc.property(numbers, fc.boolean(), (number, livemode) => {
      for (const kind of KINDS) {
        const id = numberedId(KEY, kind, { livemode, number });
        assert.equal(numberOfId(OTHER_KEY, kind, { livemode, id }), null);
        assert.equal(numberOfId(KEY, kind, { livemode: !livemode, id }), null);
        for (const other of KINDS.filter((one) => one !== kind)) {
          assert.equal(numberOfId(KEY, other, { livemode, id }), null);
          const sameBody = numberedId(KEY, other, { livemode, number }).slice(-22);
          assert.notEqual(id.slice(-22), sameBody);
        }
      }
    }),
  );
});

test('an id with any character changed has no number', () => {
  const id = numberedId(KEY, 'payment', { livemode: false, number: 1_048_577n });
  for (let at = 'pay_'.length; at < id.length; at++) {
    const changed = id.slice(0, at) + (id[at] === 'x' ? 'y' : 'x') + id.slice(at + 1);
    assert.equal(numberOfId(KEY, 'payment', { livemode: false, id: changed }), null);
  }
  for (const id of ['', 'pay_', 'pay_!', `pay_${'é'.repeat(22)}`, newId('payment', new Date())]) {
    assert.equal(numberOfId(KEY, 'payment', { livemode: false, id }), null);
  }
});

test('derived ids have the format of all other ids', () => {
  const numbered = { livemode: true, number: 62n ** 9n - 1n };
  assert.ok(isId('paymentIntent', numberedId(KEY, 'paymentIntent', numbered)));
  assert.ok(isId('payment', numberedId(KEY, 'payment', numbered)));
  assert.match(numberedId(KEY, 'receipt', numbered), /^[0-9A-Za-z]{22}$/);
  assert.ok(isId('refund', refundId(KEY, { livemode: true, reference: Buffer.alloc(16) })));
  assert.ok(isId('withdrawal', withdrawalId(KEY, numbered)));
});

/** Existing objects have ids that were derived this way, so the derivation must never change. */
test('a derivation never changes', () => {
  const numbered = { livemode: false, number: 1_048_577n };
  const reference = refundReference(KEY, REQUEST);
  assert.deepEqual(
    {
      intent: numberedId(KEY, 'paymentIntent', numbered),
      payment: numberedId(KEY, 'payment', numbered),
      receipt: numberedId(KEY, 'receipt', numbered),
      order: derivedOrderId(KEY, REQUEST, 0),
      orderAfterClash: derivedOrderId(KEY, REQUEST, 1),
      reference: reference.toString('hex'),
      withdrawal: withdrawalNumber(KEY, REQUEST),
      refundId: refundId(KEY, { livemode: false, reference }),
      withdrawalId: withdrawalId(KEY, numbered),
    },
    {
      intent: 'pi_000004OmXlRsbo1iegGEUS',
      payment: 'pay_000004OmXH14iDEWSzVjYW',
      receipt: '000004OmX126EsLXEX3U55',
      order: 'm7aSmrbc',
      orderAfterClash: '5lhBwPGq',
      reference: '3d64fae2693f76ace7a7518469230faa',
      withdrawal: 2_211_968_292_159_994_710n,
      refundId: 're_7mTTL6wSV7eM4Nbrno0YHf',
      withdrawalId: 'wdr_4wMZV3gDwLWWkJ49xyTF45',
    },
  );
});

test('the proof of an id is an HMAC of its kind, network and number', () => {
  const digest = createHmac('sha256', KEY).update('payment\0mainnet\x0042').digest();
  let value = (digest.readBigUInt64BE(0) << 64n) | digest.readBigUInt64BE(8);
  let expected = '';
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  for (let i = 0; i < 13; i++, value /= 62n) expected = alphabet[Number(value % 62n)] + expected;
  const id = numberedId(KEY, 'payment', { livemode: true, number: 42n });
  assert.equal(id, `pay_00000000g${expected}`);
});

test('account, mode, caller, key and clash each change the reference', () => {
  const { tenant } = REQUEST;
  const variants = [
    REQUEST,
    { ...REQUEST, key: 'k2' },
    { ...REQUEST, caller: 'tml_1' },
    { ...REQUEST, tenant: { ...tenant, accountId: 'acct_2' } },
    { ...REQUEST, tenant: { ...tenant, livemode: true } },
  ];
  const tries = variants.flatMap((request) => [0, 1].map((clash) => ({ request, clash })));
  const references = tries.map(({ request, clash }) =>
    refundReference(KEY, request, clash).toString('hex'),
  );
  assert.equal(new Set(references).size, tries.length);
  const withdrawals = tries.map(({ request, clash }) => withdrawalNumber(KEY, request, clash));
  assert.equal(new Set(withdrawals).size, tries.length);
  const orders = tries.map(({ request, clash }) => derivedOrderId(KEY, request, clash));
  assert.equal(new Set(orders).size, tries.length);
});

test('a withdrawal number fits 63 bits and begins like the reference', () => {
  fc.assert(
    fc.property(fc.string(), (key) => {
      const number = withdrawalNumber(KEY, { ...REQUEST, key });
      assert.ok(number > 0n && number < 2n ** 63n);
      const reference = refundReference(KEY, { ...REQUEST, key });
      assert.equal(reference.length, 16);
      assert.equal(reference.readBigUInt64BE(0) >> 1n, number);
    }),
  );
});

test('a reference is HMAC-SHA256 of its parts, whatever their length', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 200 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      (text, raw) => {
        const key = toIdKey(Buffer.from(raw));
        const request = { ...REQUEST, key: text };
        const parts = ['request', 'acct_1', 'testnet', '', text].join('\0');
        const expected = createHmac('sha256', key).update(parts).digest().subarray(0, 16);
        assert.deepEqual(refundReference(key, request), expected);
      },
    ),
  );
});

test('in another cell, ids and links begin with its digit, and decode there alone', () => {
  const key = toIdKey(Buffer.alloc(32, 7), 4);
  const at = new Date('2026-10-01T12:00:00.000Z');
  const card = newId('card', at, 4);
  assert.equal(card.charAt('card_'.length), '4');
  assert.deepEqual([cellOfId('card', card), cellOfId('card', newId('card', at))], [4, 0]);
  assert.equal(idTime('card', card)?.getTime(), at.getTime());
  const number = 4n * NUMBERS_PER_CELL + 17n;
  assert.match(numberedId(key, 'receipt', { livemode: true, number }), /^4/);
  const id = refundId(key, { livemode: true, reference: Buffer.alloc(16) });
  const token = refundReceiptToken(key, { livemode: true, id });
  assert.match(token, /^4[0-9A-Za-z]{35}$/);
  assert.equal(refundOfReceiptToken(key, { livemode: true, token }), id);
  assert.equal(refundOfReceiptToken(KEY, { livemode: true, token }), null);
  assert.equal(refundOfReceiptToken(key, { livemode: true, token: token.slice(1) }), null);
});
