import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAtomsUp } from '#core/currency-conversion.ts';
import type { HeldSale } from './held-sales.ts';
import {
  cardProblem,
  chargedFor,
  mostNext,
  mostPerPayment,
  type OfflineLimits,
  type OfflineTerms,
  requestProblem,
  type Standing,
  saleProblem,
  serviceTime,
  validBeforeOf,
} from './till-offline-limits.ts';

const NOW = Date.parse('2026-10-01T12:00:00Z');
const HOUR = 3_600_000;
const CARD = `0x${'aB'.repeat(20)}` as const;

const TERMS: OfflineTerms = {
  chain_id: 84532,
  usdc: `0x${'11'.repeat(20)}`,
  usdc_name: 'USD Coin',
  usdc_version: '2',
  settlement: `0x${'22'.repeat(20)}`,
  merchant_number: 7,
  rates: { acquirer: 90, protocol: 10, cashback: 25 },
  rates_until: null,
  presentment: null,
  issued_at: '2026-10-01T11:00:00Z',
  blocked: [],
};

const LIMITS: OfflineLimits = {
  ...{ per_payment: 10, per_card_per_day: 15, total: 30, count: 3, hours: 8 },
  ...{ presentment: null, rate_margin: 100, cap: null },
};

function held(amount: number, part: Partial<HeldSale> = {}): HeldSale {
  return {
    nonce: `0x${'33'.repeat(32)}`,
    from: CARD.toLowerCase() as typeof CARD,
    amount,
    value: amount,
    validBefore: 0,
    salt: `0x${'44'.repeat(32)}`,
    signature: `0x${'55'.repeat(65)}`,
    acceptedAt: '2026-10-01T00:00:00.000Z',
    lineItems: null,
    state: { is: 'waits' },
    ...part,
  };
}

function standing(part: Partial<Standing> = {}): Standing {
  return {
    limits: LIMITS,
    terms: TERMS,
    contactAt: NOW - HOUR,
    now: NOW,
    sales: [],
    isSafe: true,
    ...part,
  };
}

const ONE_ATOM = { amount: 1n, presentment: null };

const bounced = {
  is: 'bounced',
  id: 'ofp_1',
  reason: 'insufficient_funds',
  isSeen: false,
} as const;
const succeeded = { is: 'succeeded', id: 'ofp_1' } as const;
const unread = { is: 'unread', code: 'signature_invalid', message: '' } as const;

test('a sale at each limit is requested, and one above it is not', () => {
  const full = [held(10), held(10)];
  const table = [
    [10n, {}, null],
    [11n, {}, 'per_payment'],
    [10n, { sales: full }, null],
    [10n, { sales: [...full, held(1)] }, 'count'],
    [10n, { sales: [held(11), held(10)] }, 'total'],
    // Final sales do not count.
    [10n, { sales: [...full, held(10, { state: succeeded })] }, null],
    [10n, { sales: [...full, held(10, { state: bounced })] }, null],
    [10n, { sales: [...full, held(9, { state: { is: 'processing', id: 'ofp_1' } })] }, 'count'],
    // Unread records do not count, because the service may never accept them.
    [10n, { sales: [...full, held(10, { state: unread })] }, null],
    [10n, { contactAt: NOW - 8 * HOUR }, null],
    [10n, { contactAt: NOW - 8 * HOUR - 1 }, 'hours'],
    [1n, { terms: null }, 'no_terms'],
    [1n, { isSafe: false }, 'unsafe'],
    [1n, { terms: { ...TERMS, rates_until: '2026-10-01T12:59:59Z' } }, 'rates_change'],
    [1n, { terms: { ...TERMS, rates_until: '2026-10-01T13:00:00Z' } }, null],
  ] as const;
  for (const [amount, part, expected] of table) {
    const problem = saleProblem({ amount, presentment: null }, standing(part));
    assert.equal(problem?.is ?? null, expected, JSON.stringify([`${amount}`, part]));
  }
});

test('a card pays up to its limit per UTC day, whatever the result of its sales', () => {
  const sale = { from: CARD, amount: 5n, presentment: null };
  const table = [
    [[held(10)], null],
    [[held(11)], 'per_card_per_day'],
    [[held(11, { state: succeeded })], 'per_card_per_day'],
    [[held(11, { acceptedAt: '2026-09-30T23:59:59.999Z' })], null],
    [[held(11, { from: `0x${'cc'.repeat(20)}` })], null],
    // The service will list the wallet as blocked only at the next contact.
    [[held(1, { state: bounced })], 'blocked'],
  ] as const;
  for (const [sales, expected] of table) {
    assert.equal(cardProblem(sale, standing({ sales }))?.is ?? null, expected);
  }
  const blocked = [CARD.toUpperCase().replace('0X', '0x')];
  const problem = cardProblem(sale, standing({ terms: { ...TERMS, blocked } }));
  assert.deepEqual(problem, { is: 'blocked' });
});

test('a signature is valid as long as the till may be offline, and never past new rates', () => {
  const at = (hours: number) => (NOW + hours * HOUR) / 1000;
  const limits = (hours: number) => ({ ...standing().limits, hours });
  assert.equal(validBeforeOf(standing()), at(24));
  assert.equal(validBeforeOf(standing({ limits: limits(48) })), at(48));
  const most = { limits: limits(72), contactAt: NOW };
  assert.equal(validBeforeOf(standing(most)), at(71));
  const terms = { ...TERMS, rates_until: '2026-10-01T15:00:00Z' };
  assert.equal(validBeforeOf(standing({ terms })), at(3));
});

test('a clock that is set ahead while the till is offline makes no signature too long', () => {
  const limits = { ...standing().limits, hours: 72 };
  // However far ahead the device's clock is set, the signature ends 71 hours after the last
  // contact. The service accepts 72.
  for (const ahead of [0, 1, 24, 47, 70]) {
    const now = NOW + ahead * HOUR;
    const set = standing({ limits, contactAt: NOW, now });
    assert.equal(saleProblem(ONE_ATOM, set), null);
    assert.equal(validBeforeOf(set), (NOW + 71 * HOUR) / 1000, `${ahead} hours ahead`);
  }
  const now = NOW + 70 * HOUR + 1;
  assert.deepEqual(saleProblem(ONE_ATOM, standing({ limits, contactAt: NOW, now })), {
    is: 'hours',
    most: 70,
  });
});

test('a request that was shown before the terms changed is no longer accepted', () => {
  const request = {
    chainId: TERMS.chain_id,
    usdc: CARD,
    usdcName: TERMS.usdc_name,
    usdcVersion: TERMS.usdc_version,
    settlement: TERMS.settlement as typeof CARD,
    merchantNumber: TERMS.merchant_number,
    merchantName: 'Blue Door Café',
    amount: 10n,
    value: chargedFor(10n, TERMS),
    validBefore: (NOW + 24 * HOUR) / 1000,
    salt: CARD,
  };
  const at = (part: Partial<Standing>) => requestProblem({ request }, standing(part))?.is ?? null;
  assert.equal(at({}), null);
  assert.equal(at({ terms: { ...TERMS, merchant_number: 8 } }), 'outdated');
  assert.equal(at({ terms: { ...TERMS, settlement: CARD } }), 'outdated');
  assert.equal(
    at({ terms: { ...TERMS, rates: { acquirer: 1_000, protocol: 0, cashback: 0 } } }),
    'outdated',
  );
  assert.equal(at({ terms: { ...TERMS, rates_until: '2026-10-02T11:59:59Z' } }), 'outdated');
  assert.equal(at({ terms: { ...TERMS, rates_until: '2026-10-02T12:00:00Z' } }), null);
  const later = NOW + 23 * HOUR;
  assert.equal(at({ now: later, contactAt: later }), null);
  assert.equal(at({ now: later + 1, contactAt: later }), 'outdated');
  assert.equal(at({ sales: [held(10), held(10), held(10)] }), 'count');
});

test('each fee is rounded down separately', () => {
  assert.equal(chargedFor(2_500_000n, TERMS), 2_500_000n + 22_500n + 2_500n - 6_250n);
  assert.equal(chargedFor(999n, TERMS), 999n + 8n + 0n - 2n);
});

test('the service time is right despite a wrong device clock, and never goes back', () => {
  const day = 24 * HOUR;
  assert.equal(serviceTime({ offsetMs: -day, least: NOW }, NOW + day + 5), NOW + 5);
  assert.equal(serviceTime({ offsetMs: 0, least: NOW }, NOW - day), NOW);
});

const EURO = {
  id: 'oft_1',
  currency: 'eur',
  rate: '1.096276999892',
  quoted_at: '2026-10-01T10:00:00Z',
  valid_until: '2026-10-01T18:00:00Z',
  margin: 100,
};
const EURO_TERMS = { ...TERMS, presentment: EURO };

function inEuros(amount: number) {
  const { id: terms, currency, rate, margin } = EURO;
  const atoms = toAtomsUp(BigInt(amount), EURO);
  return { amount: atoms, presentment: { terms, currency, rate, margin, amount } };
}

const EURO_LIMITS: OfflineLimits = {
  ...{ per_payment: 10_854_227, per_card_per_day: 21_708_455, total: 21_708_455 },
  ...{ count: 9, hours: 8, rate_margin: 100, cap: null },
  presentment: { currency: 'eur', per_payment: 1_000, per_card_per_day: 2_000, total: 2_000 },
};

test('limits in the shop’s currency compare prices in it, and name them', () => {
  const at = (units: number, part: Partial<Standing> = {}) =>
    saleProblem(inEuros(units), standing({ limits: EURO_LIMITS, terms: EURO_TERMS, ...part }));
  assert.equal(at(1_000), null);
  assert.deepEqual(at(1_001), { is: 'per_payment', most: { units: 1_000, currency: 'eur' } });
  const { amount, presentment } = inEuros(1_000);
  const sales = [held(Number(amount), { presentment })];
  assert.equal(at(1_000, { sales }), null);
  const most = { units: 2_000, currency: 'eur' };
  assert.deepEqual(at(1_000, { sales: [...sales, held(1_000_000)] }), { is: 'total', most });
});

test('limits in USDC count a price without the margin, and the cap counts its atoms', () => {
  // €9.90 are 10.853143 USDC at the terms, and 10.745686 without the margin.
  const limits = { ...LIMITS, per_payment: 10_745_686, total: 99_000_000 };
  const at = (part: Partial<OfflineLimits>) =>
    saleProblem(inEuros(990), standing({ limits: { ...limits, ...part }, terms: EURO_TERMS }));
  assert.equal(at({}), null);
  assert.equal(at({ per_payment: 10_745_685 })?.is, 'per_payment');
  assert.equal(at({ cap: 10_853_143 }), null);
  assert.deepEqual(at({ cap: 10_853_142 }), {
    is: 'per_payment',
    most: { units: 989, currency: 'eur' },
  });
});

test('the till names the smaller of limit and cap, in the currency in which it sells', () => {
  const most = (currency: string | null, part: Partial<OfflineLimits> = {}) =>
    mostPerPayment(currency, standing({ limits: { ...EURO_LIMITS, ...part }, terms: EURO_TERMS }));
  assert.deepEqual(most('eur'), { units: 1_000, currency: 'eur' });
  assert.deepEqual(most('eur', { cap: 10_853_143 }), { units: 990, currency: 'eur' });
  assert.deepEqual(most(null), { units: 10_854_227, currency: null });
  // €92.13 are 101.000001 USDC, and 100.000000 without the margin.
  const inAtoms = { presentment: null, per_payment: 100_000_000 };
  assert.deepEqual(most('eur', inAtoms), { units: 9_213, currency: 'eur' });
  assert.deepEqual(most(null, { cap: 5_000_000 }), { units: 5_000_000, currency: null });
});

test('the till says what waiting sales leave of the limits, in the currency of the sale', () => {
  const next = (currency: string | null, sales: readonly HeldSale[], part = {}) =>
    mostNext(currency, standing({ limits: EURO_LIMITS, terms: EURO_TERMS, sales, ...part }));
  const { amount, presentment } = inEuros(1_000);
  const half = held(Number(amount), { presentment });
  assert.deepEqual(next('eur', []), { units: 1_000, currency: 'eur' });
  assert.deepEqual(next('eur', [half]), { units: 1_000, currency: 'eur' });
  // 1.08 USDC are a little less than €1.00 of the total of €20.00.
  assert.deepEqual(next('eur', [half, held(1_080_000)]), { units: 900, currency: 'eur' });
  assert.deepEqual(next(null, [half, held(1_080_000)]), { units: 9_774_227, currency: null });
  const most = { units: 2_000, currency: 'eur' };
  assert.deepEqual(next('eur', [half, half]), { is: 'total', most });
  const paid = held(Number(amount), { presentment, state: succeeded });
  assert.deepEqual(next('eur', [paid, paid]), { units: 1_000, currency: 'eur' });
  assert.deepEqual(
    next(
      'eur',
      Array.from({ length: 9 }, () => held(1)),
    ),
    { is: 'count', most: 9 },
  );
  assert.deepEqual(next('chf', []), { is: 'no_rate' });
  assert.deepEqual(next('eur', [], { isSafe: false }), { is: 'unsafe' });
});

test('a price is sold only at terms in its currency that have not ended', () => {
  const at = (presentment: typeof EURO | null, now = NOW) =>
    saleProblem(
      inEuros(100),
      standing({ limits: EURO_LIMITS, terms: { ...TERMS, presentment }, now, contactAt: now }),
    )?.is ?? null;
  assert.equal(at(EURO), null);
  assert.equal(at(null), 'no_rate');
  assert.equal(at({ ...EURO, currency: 'chf' }), 'no_rate');
  assert.equal(at(EURO, Date.parse(EURO.valid_until)), 'no_rate');
});
