import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Hex } from '../../data/bytes.ts';
import type { Forwarded } from '../../data/forward-offline-payments.ts';
import {
  afterAnswer,
  type HeldSale,
  isFinal,
  isOver,
  refusedRecord,
  slipOf,
  toForward,
  waitingCount,
} from './held-sales.ts';

const nonceOf = (position: number): Hex => `0x${position.toString(16).padStart(64, '0')}`;

function held(position: number, part: Partial<HeldSale> = {}): HeldSale {
  return {
    nonce: nonceOf(position),
    from: `0x${'aa'.repeat(20)}`,
    amount: 2_500_000,
    value: 2_525_000,
    validBefore: 0,
    salt: `0x${'44'.repeat(32)}`,
    signature: `0x${'55'.repeat(65)}`,
    acceptedAt: '2026-10-01T12:00:00.000Z',
    lineItems: null,
    state: { is: 'waits' },
    ...part,
  };
}

const told = (position: number, status: string): Forwarded =>
  ({
    object: 'offline_payment',
    id: `ofp_${position}`,
    status,
    bounce_reason: status === 'bounced' ? 'insufficient_funds' : null,
    nonce: nonceOf(position),
  }) as Forwarded;

const wrong = (position: number): Forwarded => ({
  object: 'error',
  code: 'parameter_invalid',
  message: 'The nonce is another one.',
  nonce: nonceOf(position),
});

test('a sale is kept with its signature until it is paid or has bounced', () => {
  const sent = [1, 2, 3, 4].map((position) => held(position));
  const answer = [told(1, 'processing'), told(2, 'succeeded'), told(3, 'bounced'), wrong(4)];
  const after = afterAnswer(sent, answer);
  assert.deepEqual(
    after.map(({ state, signature }) => [state.is, signature !== null]),
    [
      ['processing', true],
      ['succeeded', false],
      ['bounced', false],
      ['unread', true],
    ],
  );
  assert.equal(waitingCount(after), 2);
  assert.deepEqual(toForward(after), [after[0], after[3]]);
});

test('no response, whatever its content, loses a sale or reopens a final one', () => {
  const states = fc.constantFrom<HeldSale['state']>(
    { is: 'waits' },
    { is: 'processing', id: 'ofp_1' },
    { is: 'succeeded', id: 'ofp_1' },
    { is: 'bounced', id: 'ofp_1', reason: 'blocked', isSeen: true },
    { is: 'unread', code: 'signature_invalid', message: '' },
  );
  const answers = fc.array(
    fc.oneof(
      fc
        .tuple(fc.nat(5), fc.constantFrom('processing', 'succeeded', 'bounced', 'new'))
        .map(([position, status]) => told(position, status)),
      fc.nat(5).map(wrong),
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(fc.array(states, { maxLength: 5 }), answers, (all, answer) => {
      const sent = all.map((state, position) => held(position, { state }));
      for (const changed of afterAnswer(sent, answer)) {
        const before = sent.find(({ nonce }) => nonce === changed.nonce);
        assert.ok(before !== undefined && !isFinal(before));
        const position = sent.indexOf(before);
        assert.equal(answer[position]?.nonce, changed.nonce);
        // The signature is deleted only once the sale is final.
        assert.equal(changed.signature === null, isFinal(changed));
        const { state: _, signature: __, ...rest } = changed;
        assert.deepEqual(
          { ...before, state: undefined, signature: undefined },
          {
            ...rest,
            state: undefined,
            signature: undefined,
          },
        );
      }
    }),
  );
});

test('a refusal of a whole request names the record that is broken', () => {
  const sent = [held(1), held(2)];
  assert.equal(refusedRecord(sent, 'payments[1].authorization.nonce'), sent[1]);
  assert.equal(refusedRecord(sent, 'payments[7].amount'), null);
  assert.equal(refusedRecord(sent, 'payments'), null);
  assert.equal(refusedRecord(sent, null), null);
});

test('final sales that were seen stay in the history for a week, and all others stay', () => {
  const now = Date.parse('2026-10-08T12:00:00.001Z');
  const final = held(1, { state: { is: 'succeeded', id: 'ofp_1' } });
  assert.ok(isOver(final, now));
  assert.ok(!isOver(final, now - 1));
  assert.ok(!isOver(held(1), now + 1e12));
  const bounced = { is: 'bounced', id: 'ofp_1', reason: 'blocked' } as const;
  const seen = held(1, { state: { ...bounced, isSeen: true } });
  assert.ok(isOver(seen, now));
  assert.ok(!isOver(held(1, { state: { ...bounced, isSeen: false } }), now + 1e12));
});

test('the code of a slip is the beginning of the nonce', () => {
  const { code, amount } = slipOf(held(1, { nonce: `0xabcdef01${'0'.repeat(56)}` }));
  assert.equal(code, 'ABCD-EF01');
  assert.equal(amount, 2_500_000n);
});
