import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isRefusal } from '#core/answer.ts';
import { atoms, ZERO } from '#core/money.ts';
import { type AskedAmount, decideShare, type Earlier, type Share } from '#refunds/refund-share.ts';
import { PAYMENT_ROW } from '#testkit/fixtures/payments/payment-row.ts';

/** A sale: atoms and minor units, including the tip. */
interface Sale {
  readonly paid: bigint;
  readonly whole: number;
  readonly tip: number;
}

interface Refund extends Share {
  readonly failed: boolean;
}

function paymentOf({ paid, whole, tip }: Sale, refunds: readonly Refund[]) {
  const reserved = refunds.reduce((sum, one) => (one.failed ? sum : sum + one.amount), 0n);
  const presentment = {
    currency: 'eur',
    amount: whole - tip,
    tipAmount: tip,
    rate: '1',
    quotedAt: '2026-10-01T12:00:00.000Z',
    expiresAt: '2026-10-01T12:02:00.000Z',
    source: '',
  };
  return { ...PAYMENT_ROW, amount: atoms(paid), presentment, amount_reserved: atoms(reserved) };
}

function earlierOf(refunds: readonly Refund[]): Earlier {
  const parts = refunds.filter(({ failed, presentment_part: part }) => !failed && part !== null);
  return {
    parts: parts.reduce((sum, { presentment_part }) => sum + (presentment_part ?? 0n), 0n),
    partsGave: parts.reduce((sum, { amount }) => sum + amount, 0n),
    refunds: [],
  };
}

/** Returns the atoms of each of these refunds of one sale, or the refusal. */
function refundAll(sale: Sale, requests: readonly AskedAmount[]): (Share | string)[] {
  const refunds: Refund[] = [];
  return requests.map((one) => {
    const share = decideShare(paymentOf(sale, refunds), one, earlierOf(refunds));
    if ('refused' in share) return share.code;
    refunds.push({ ...share, failed: false });
    return share;
  });
}

const part = (minorUnits: number): AskedAmount => ({ minorUnits });
const gave = (shares: readonly (Share | string)[]) =>
  shares.map((share) => (typeof share === 'string' ? share : Number(share.amount)));

test('a part is the floor of the sum minus earlier parts; the last part is what is left', () => {
  const sale = { paid: 10_854_227n, whole: 1_000, tip: 0 };
  const shares = refundAll(sale, [part(333), part(333), part(333), part(1), part(1)]);
  const floors = [333, 666, 999].map((sum) => Math.floor((10_854_227 * sum) / 1_000));
  const [a = 0, b = 0, c = 0] = floors;
  assert.deepEqual(gave(shares), [a, b - a, c - b, 10_854_227 - c, 'payment_already_refunded']);
});

test('a part in atoms counts as the atoms that it returned', () => {
  const sale = { paid: 10_854_227n, whole: 1_100, tip: 100 };
  const half = 5_427_113;
  const shares = refundAll(sale, [half, part(551), part(550)]);
  assert.deepEqual(gave(shares), [half, 'amount_too_large', 10_854_227 - half]);
  const [first] = shares;
  assert.equal(typeof first === 'object' && first.presentment?.amount, 550);
});

test('more than is left is refused, and so is a part worth no atom', () => {
  const sale = { paid: 2_500_000n, whole: 250, tip: 0 };
  assert.deepEqual(gave(refundAll(sale, [part(251), part(100), part(151), 1_500_001])), [
    'amount_too_large',
    1_000_000,
    'amount_too_large',
    'amount_too_large',
  ]);
  assert.deepEqual(gave(refundAll({ paid: 10n, whole: 100, tip: 0 }, [part(9), part(10)])), [
    'parameter_invalid',
    1,
  ]);
});

test('a sale in USDC takes no minor units', () => {
  const payment = { ...paymentOf({ paid: 100n, whole: 1, tip: 0 }, []), presentment: null };
  const refused = decideShare(payment, part(1), earlierOf([]));
  assert.ok('refused' in refused && refused.param === 'presentment_amount');
  const whole = decideShare(payment, null, earlierOf([]));
  const none = { presentment: null, presentment_part: null, line_items: null, taxes: null };
  assert.deepEqual(whole, { amount: 100n, ...none });
});

/** Generates random refund sizes in either unit; some refunds fail afterwards. */
const step = fc.record({
  unit: fc.constantFrom('atoms', 'minor'),
  share: fc.double({ min: 0, max: 1.2, noNaN: true }),
  fails: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

/** Number of sales: 100,000 refunds in total. */
const SALES = 5_000;
const REFUNDS_OF_EACH = 20;

test('100,000 random refunds in either unit return the paid amount, never more', () => {
  const sale = fc
    .record({
      paid: fc.bigInt({ min: 1n, max: 10n ** 12n }),
      whole: fc.integer({ min: 1, max: 10_000_000 }),
      tip: fc.double({ min: 0, max: 0.5, noNaN: true }),
    })
    .map(({ tip, ...rest }) => ({ ...rest, tip: Math.floor(rest.whole * tip) }));
  const steps = fc.array(step, { minLength: REFUNDS_OF_EACH, maxLength: REFUNDS_OF_EACH });
  fc.assert(
    fc.property(sale, steps, (sold, request) => {
      const refunds: Refund[] = [];
      for (const { unit: inUnit, share, fails } of request) {
        const scale = inUnit === 'atoms' ? Number(sold.paid) : sold.whole;
        const size = Math.max(1, Math.floor((scale * share) / 4));
        const given = inUnit === 'atoms' ? size : part(size);
        const decided = decideShare(paymentOf(sold, refunds), given, earlierOf(refunds));
        if ('refused' in decided) continue;
        assert.ok(decided.amount >= 1n);
        // Each refund must be worth its displayed amount, to within one minor unit per rounding and
        // a few atoms.
        const worth = (sold.paid * BigInt(decided.presentment?.amount ?? 0)) / BigInt(sold.whole);
        const off = decided.amount > worth ? decided.amount - worth : worth - decided.amount;
        const unit = sold.paid / BigInt(sold.whole) + 1n;
        assert.ok(off <= 2n * unit + BigInt(REFUNDS_OF_EACH));
        refunds.push({ ...decided, failed: fails });
      }
      const last = decideShare(paymentOf(sold, refunds), null, earlierOf(refunds));
      if (!('refused' in last)) refunds.push({ ...last, failed: false });
      const kept = refunds.filter(({ failed }) => !failed);
      assert.equal(
        kept.reduce((sum, { amount }) => sum + amount, 0n),
        sold.paid,
      );
      const units = kept.reduce((sum, { presentment }) => sum + (presentment?.amount ?? 0), 0);
      const failed = refunds.some((one) => one.failed);
      assert.ok(units <= sold.whole + refunds.length && (failed || units === sold.whole));
      assert.ok(isRefusal(decideShare(paymentOf(sold, refunds), part(1), earlierOf(refunds))));
    }),
    { numRuns: SALES },
  );
});

test('parts in minor units, however they are cut, return the whole to the atom', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.bigInt({ min: 1_000_000n, max: 10n ** 12n }), cuts, (paid, sizes) => {
      const whole = sizes.reduce((sum, size) => sum + size, 0);
      const shares = refundAll({ paid, whole, tip: 0 }, sizes.map(part));
      const sum = shares.reduce(
        (all, one) => all + (typeof one === 'string' ? ZERO : one.amount),
        0n,
      );
      assert.equal(sum, atoms(paid));
    }),
  );
});
