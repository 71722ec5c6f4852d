import assert from 'node:assert/strict';
import { test } from 'node:test';
import codes from '../data/offline-codes.json' with { type: 'json' };
import { type OfflineRequest, writeRequest } from '../data/offline-request.ts';
import { checkRequest, compareRate, type KnownNetwork } from './check-offline-request.ts';

const NOW = 1_790_000_000;

const REQUEST: OfflineRequest = {
  chainId: 84_532,
  usdc: `0x${'a1'.repeat(20)}`,
  usdcName: 'USD Coin',
  usdcVersion: '2',
  settlement: `0x${'b2'.repeat(20)}`,
  merchantNumber: 7,
  merchantName: 'Blue Door Café',
  amount: 2_500_000n,
  value: 2_512_500n,
  validBefore: NOW + 3_600,
  salt: `0x${'c3'.repeat(32)}`,
};

const PIN = {
  chainId: 84_532,
  usdc: `0x${'A1'.repeat(20)}`,
  usdcDomain: { name: 'USD Coin', version: '2' },
  settlement: `0x${'B2'.repeat(20)}`,
  feeRate: 50,
} as const;

const KNOWN: KnownNetwork = { pin: PIN, former: [] };

function check(change: Partial<OfflineRequest>, known: KnownNetwork = KNOWN) {
  return checkRequest(writeRequest({ ...REQUEST, ...change }), known, NOW * 1_000);
}

test('a request for a known contract is read, however its addresses are spelled', () => {
  assert.deepEqual(check({}), REQUEST);
  // Cashback may exceed the fees.
  assert.deepEqual(check({ value: 2_490_000n }), { ...REQUEST, value: 2_490_000n });
  const former = [{ ...PIN, settlement: `0x${'d4'.repeat(20)}` as const }];
  const older = { ...REQUEST, settlement: `0x${'d4'.repeat(20)}` as const };
  assert.deepEqual(check(older, { pin: PIN, former }), older);
});

test('nothing is signed for another chain, token or receiver', () => {
  const other = `0x${'99'.repeat(20)}` as const;
  assert.equal(check({ chainId: 8_453 }), 'other_network');
  assert.equal(check({ settlement: other }), 'other_contracts');
  assert.equal(check({ usdc: other }), 'other_contracts');
  assert.equal(check({ usdcName: 'USDC' }), 'other_contracts');
  assert.equal(check({ usdcVersion: '1' }), 'other_contracts');
  assert.equal(check({}, { pin: null, former: [] }), 'unknown_network');
});

test('a request is signed while it is valid, and for at most 72 hours', () => {
  assert.equal(check({ validBefore: NOW }), 'expired');
  assert.deepEqual(check({ validBefore: NOW + 1 }), { ...REQUEST, validBefore: NOW + 1 });
  const longest = NOW + 72 * 3_600;
  assert.deepEqual(check({ validBefore: longest }), { ...REQUEST, validBefore: longest });
  // The clocks of till and phone may differ by ten minutes.
  assert.equal(check({ validBefore: longest + 601 }), 'valid_too_long');
  assert.equal(check({ validBefore: Number.MAX_SAFE_INTEGER }), 'valid_too_long');
});

test('sums that cannot be paid, and fees above the known ones, are refused', () => {
  assert.equal(check({ amount: 0n }), 'wrong_sum');
  assert.equal(check({ value: 0n }), 'wrong_sum');
  assert.equal(check({ amount: 10n ** 12n + 1n }), 'wrong_sum');
  assert.equal(check({ value: 2_512_501n }), 'higher_fees');
  const { feeRate: _, ...unknown } = PIN;
  // A wallet that does not know the fees accepts the most that a contract may charge: 3 %.
  const dearest = { ...REQUEST, value: 2_575_000n };
  assert.deepEqual(check(dearest, { pin: unknown, former: [] }), dearest);
  assert.equal(check({ value: 2_575_001n }, { pin: unknown, former: [] }), 'higher_fees');
});

test('text that is no request is refused with its reason', () => {
  const at = (text: string) => checkRequest(text, KNOWN, NOW * 1_000);
  assert.equal(at(''), 'other_text');
  assert.equal(at('https://example.org/t/1'), 'other_text');
  assert.equal(at(writeRequest(REQUEST).slice(0, -1)), 'damaged');
  assert.equal(at(writeRequest(REQUEST).replace('TLREQ1', 'TLREQ3')), 'other_version');
});

test('the wallet reads the published examples of both versions', () => {
  for (const { name, request, request_text: text } of codes) {
    const pin = { ...PIN, chainId: request.chainId };
    const read = checkRequest(text, { pin, former: [] }, (request.validBefore - 3_600) * 1_000);
    assert.ok(typeof read !== 'string', `${name}: ${read}`);
    assert.deepEqual(read.price, 'price' in request ? request.price : undefined, name);
  }
});

test('a price that is not the signed sum at its rate is refused', () => {
  const price = { currency: 'eur', amount: 228, rate: '1.096276999892' };
  // 2.28 × 1.096276999892 = 2.49951…, rounded up.
  assert.deepEqual(check({ price, amount: 2_499_512n, value: 2_499_512n }), {
    ...REQUEST,
    ...{ price, amount: 2_499_512n, value: 2_499_512n },
  });
  assert.equal(check({ price, amount: 2_499_511n, value: 2_499_511n }), 'wrong_sum');
  assert.equal(check({ price: { ...price, amount: 1 } }), 'wrong_sum');
});

test('a rate is compared with the last one seen, and 5 percent off is warned about', () => {
  const at = (rate: string, seen?: string) =>
    compareRate({ currency: 'eur', amount: 1, rate }, seen);
  assert.equal(at('1.05', undefined), 'unknown');
  assert.equal(at('1.0499', '1'), 'near');
  assert.equal(at('1.05', '1'), 'higher');
  assert.equal(at('0.9501', '1'), 'near');
  assert.equal(at('0.95', '1'), 'lower');
});
