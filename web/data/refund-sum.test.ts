import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAtoms } from '../ui/format-usdc.ts';
import { writeSum } from '../ui/typed-sum.ts';
import { refundFields } from './refund-request-fields.ts';
import { type RefundSum, readRefund, refundLeft, usdcLeft } from './refund-sum.ts';

/** Returns the refundable rest of a sale in USDC. */
const inUsdc = (left: bigint) => ({ left, currency: null, isWhole: false });
const units = ({ part }: RefundSum) => part?.units ?? null;

test('typing the remainder as displayed, rounded either way, means all of it', () => {
  for (const left of [2_005_001n, 2_004_999n, 2_000_000n, 2_014_999n]) {
    const read = readRefund(formatAtoms(left), { ...inUsdc(left), wrote: 1n });
    assert.deepEqual([units(read), read.crumb], [left, null]);
  }
});

test('every other amount is exact, and refused above the remainder', () => {
  const left = 2_005_001n;
  const given: readonly (readonly [string, bigint | null])[] = [
    ['2.00', 2_000_000n],
    ['2.005001', left],
    ['2.005002', null],
    ['2.02', null],
    ['0.000001', 1n],
  ];
  for (const [text, atoms] of given) {
    assert.equal(units(readRefund(text, { ...inUsdc(left), wrote: left })), atoms, text);
  }
});

test('the form’s own text is exact, even if it looks like the remainder', () => {
  const [left, wrote] = [2_000_001n, 2_000_000n];
  const read = readRefund(writeSum(wrote), { ...inUsdc(left), wrote });
  assert.deepEqual([units(read), read.crumb], [wrote, 1n]);
});

test('a remainder below 0.01 is offered as a full refund; a larger one is not', () => {
  const crumbs: readonly (readonly [bigint, string, bigint | null])[] = [
    [2_005_001n, '2', 5_001n],
    [2_009_999n, '2', 9_999n],
    [2_010_000n, '2', null],
    [2_005_001n, '1.99', null],
    [2_005_001n, '2.01', null],
  ];
  for (const [left, text, crumb] of crumbs) {
    assert.equal(readRefund(text, { ...inUsdc(left), wrote: left }).crumb, crumb, text);
  }
});

const PAID = { currency: 'eur', amount: 250, rate: '1.085', tip_amount: 25 };
const SALE = { amount: 2_983_750, amount_refunded: 0, presentment: PAID };

test('a sale priced in a currency is refunded in it, fully or in part', () => {
  const all = refundLeft(SALE);
  assert.deepEqual(all, { left: 275n, currency: 'eur', isWhole: true });
  const fields = (text: string) => {
    const { part } = readRefund(text, { ...all, wrote: all.left });
    return part === null ? null : refundFields(part);
  };
  assert.deepEqual(fields('2.75'), { presentment_amount: 275 });
  assert.deepEqual(fields('1'), { presentment_amount: 100 });
  assert.equal(fields('2.76'), null);
  assert.equal(fields('1.005'), null);
  assert.deepEqual(usdcLeft(SALE), { left: 2_983_750n, currency: null, isWhole: true });
});

test('after other refunds, the remainder is the amount that the service reports', () => {
  const left = refundLeft({ ...SALE, amount_refunded: 1_085_000 });
  assert.equal(left.left, 175n);
  const { part } = readRefund('1.75', { ...left, wrote: left.left });
  assert.deepEqual(part && refundFields(part), {});
  assert.equal(refundLeft({ ...SALE, amount_refunded: SALE.amount }).left, 0n);
});
