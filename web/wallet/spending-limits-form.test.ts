import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Wallet } from '../data/payer-api.ts';
import { isRead, presentTerms, readTerms, USUAL_TERMS } from './spending-limits-form.ts';
import { walletStatusOf } from './wallet-status.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

const POLICY = {
  per_payment: 50_000_000,
  per_period: 200_000_000,
  period_seconds: 86_400,
  spent: 0,
  expires_at: '2027-02-18T12:00:00.000Z',
  max_fee_rate: 100,
};

const WALLET: Wallet = {
  object: 'wallet',
  livemode: false,
  network: 'testnet',
  address: '0x0000000000000000000000000000000000000001',
  balance: 100_000_000,
  allowance: 1_000_000_000,
  former: null,
  policy: POLICY,
  gasless: null,
  fee_rates: { acquirer: 30, protocol: 20, cashback: 5 },
  chain_id: 31_337,
  usdc: '0x0000000000000000000000000000000000000002',
  usdc_domain: { name: 'USD Coin', version: '2' },
  settlement: '0x0000000000000000000000000000000000000003',
  nonces: { permit: 0, policy: 0 },
  to_send: null,
  to_sign: { permit: { typed_data: {}, body: {} }, policy: { typed_data: {}, body: {} } },
};

const wallet = (part: Partial<Wallet> = {}): Wallet => ({ ...WALLET, ...part });

test('the signed terms are the typed ones', () => {
  const read = readTerms(USUAL_TERMS, wallet(), NOW);
  assert.ok(isRead(read));
  assert.deepEqual(read, {
    total: 1_000_000_000n,
    terms: {
      perPayment: 50_000_000n,
      perPeriod: 200_000_000n,
      periodSeconds: 86_400,
      expiresAt: NOW / 1000 + 90 * 86_400,
      maxFeeRate: 100,
    },
  });
});

test('an impossible value is reported beside its field', () => {
  const wrong: readonly (readonly [object, string])[] = [
    [{ perPayment: '' }, 'perPayment'],
    [{ perPayment: 'a lot' }, 'perPayment'],
    [{ perPayment: '0' }, 'perPayment'],
    [{ perDay: '49.99' }, 'perDay'],
    [{ total: '49.99' }, 'total'],
    // The total includes the fees of the largest payment.
    [{ total: '50.49' }, 'total'],
    [{ total: '1000000.01' }, 'total'],
  ];
  for (const [typed, field] of wrong) {
    const read = readTerms({ ...USUAL_TERMS, ...typed }, wallet(), NOW);
    assert.deepEqual(Object.keys(read), [field], JSON.stringify(typed));
  }
});

test('on a network with higher fees, the user agrees to these fees and no more', () => {
  const fee_rates = { acquirer: 150, protocol: 40, cashback: 0 };
  const read = readTerms(USUAL_TERMS, wallet({ fee_rates }), NOW);
  assert.equal(isRead(read) ? read.terms.maxFeeRate : null, 190);
});

test('the form of a change starts with the current limits', () => {
  const policy = { ...POLICY, per_payment: 12_340_000 };
  const { perPayment, total } = presentTerms(wallet({ policy, allowance: 77_000_000 }));
  assert.deepEqual([perPayment, total], ['12.34', '77.00']);
  assert.deepEqual(presentTerms(wallet({ policy: null })), USUAL_TERMS);
  const former = { settlement: '0x', policy, allowance: 88_000_000 };
  const moving = presentTerms(wallet({ policy: null, former }));
  assert.deepEqual([moving.perPayment, moving.total], [perPayment, '88.00'], 'of before the move');
  assert.equal(presentTerms(wallet({ allowance: 0 })).total, USUAL_TERMS.total);
});

test('a pass that could not pay now says why', () => {
  const table: readonly (readonly [Partial<Wallet>, string])[] = [
    [{}, 'ready'],
    [{ policy: null }, 'not_allowed'],
    [{ allowance: 0 }, 'not_allowed'],
    [{ policy: { ...POLICY, expires_at: '2026-11-20T12:00:00.000Z' } }, 'expired'],
    [{ allowance: 49_999_999 }, 'used_up'],
    [{ balance: 0 }, 'no_money'],
  ];
  for (const [part, status] of table) {
    assert.equal(walletStatusOf(wallet(part), NOW), status, JSON.stringify(part));
  }
});
