import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EarlierRefund, returnLines } from '#prices/refund-lines.ts';
import { leftAfter, taxesOfSum } from '#prices/refund-taxes.ts';
import {
  type LineItem,
  linePrice,
  type RateTax,
  type SaleLines,
  salePrice,
  taxTable,
} from '#prices/sale-lines.ts';
import { createRandom } from '#testkit/fixtures/core/random.ts';

const line = (unit_amount: number, change: Partial<LineItem> = {}): LineItem => {
  const plain = { name: 'x', quantity: 1, tax_rate: 0, tax_inclusive: true, discount: 0 };
  return { ...plain, unit_amount, ...change };
};

/** A sale with a tip, and its refunds so far. */
class Sold {
  readonly refunds: EarlierRefund[] = [];
  readonly lines: SaleLines;
  readonly whole: bigint;
  readonly taxes: readonly RateTax[];

  constructor(lineItems: readonly LineItem[], { discount = 0, tip = 0 } = {}) {
    this.lines = { lineItems, discount };
    this.whole = salePrice(this.lines) + BigInt(tip);
    this.taxes = taxTable(this.lines);
  }

  left() {
    return leftAfter(this.taxes, this.whole, this.refunds);
  }

  /** Refunds parts of lines. @returns the sum, or the refusal's code and parameter */
  byLine(...parts: (readonly [line: number, quantity: number | string])[]) {
    const requests = parts.map(([line, quantity]) => ({ line, quantity }));
    const by = { earlier: this.refunds, left: this.left() };
    const returned = returnLines(this.lines, requests, by);
    if ('refused' in returned) return `${returned.code} ${returned.param}`;
    this.refunds.push(returned);
    return Number(returned.amount);
  }

  bySum(amount: bigint): readonly RateTax[] {
    const taxes = taxesOfSum(this.left(), amount);
    this.refunds.push({ amount, taxes, lineItems: null });
    return taxes;
  }

  lastTaxes() {
    return this.refunds.at(-1)?.taxes;
  }
}

const CAFE = [line(380, { quantity: 2, tax_rate: 1_900 }), line(1_216, { tax_rate: 700 })] as const;

test('a part of a line is the floor of its value so far, and the last part what is left', () => {
  const cafe = new Sold(CAFE, { discount: 198 });
  assert.deepEqual(
    [cafe.byLine([0, 1]), cafe.byLine([0, 1]), cafe.byLine([1, 1])],
    [342, 342, 1_094],
  );
  const three = new Sold([line(333, { quantity: 3, discount: 100 })]);
  assert.deepEqual(
    [1, 1, 1].map(() => three.byLine([0, 1])),
    [299, 300, 300],
  );
  const ham = new Sold([line(1_000, { quantity: '0.350' })]);
  assert.deepEqual([ham.byLine([0, '0.125']), ham.byLine([0, '0.225'])], [125, 225]);
});

test('the taxes of a refund by line are those of its lines', () => {
  const cafe = new Sold(CAFE, { discount: 198, tip: 200 });
  cafe.byLine([0, 1]);
  assert.deepEqual(cafe.lastTaxes(), [{ rate: 1_900, net: 287, tax: 55, gross: 342 }]);
  cafe.byLine([0, 1], [1, '1']);
  assert.deepEqual(cafe.lastTaxes(), [
    { rate: 700, net: 1_022, tax: 72, gross: 1_094 },
    { rate: 1_900, net: 288, tax: 54, gross: 342 },
  ]);
  assert.deepEqual(cafe.left().all, 200n);
});

test('a refund of a sum takes from the rates above 0 and the tip, in proportion', () => {
  const cafe = new Sold([line(1_216, { tax_rate: 700 }), line(760, { tax_rate: 1_900 })], {
    tip: 198,
  });
  assert.deepEqual(cafe.bySum(500n), [
    { rate: 700, net: 261, tax: 18, gross: 279 },
    { rate: 1_900, net: 147, tax: 28, gross: 175 },
  ]);
});

test('after a refund of a sum, a line returns at most what is left of its rate', () => {
  const cafe = new Sold([line(1_000, { tax_rate: 700 }), line(1_000, { tax_rate: 1_900 })]);
  cafe.bySum(1_000n);
  assert.equal(cafe.byLine([0, 1]), 500);
  assert.equal(cafe.byLine([0, 1]), 'amount_too_large line_items.0.quantity');
  assert.equal(cafe.byLine([1, '0.4']), 400);
  assert.equal(cafe.byLine([1, '0.4']), 100);
  assert.deepEqual(cafe.left().all, 0n);
  const other = new Sold([line(100, { tax_rate: 700 }), line(100, { tax_rate: 700 })], {
    tip: 100,
  });
  other.byLine([0, 1]);
  other.bySum(199n);
  assert.equal(other.byLine([1, '0.001']), 'parameter_invalid line_items');
  const none = new Sold([line(100, { tax_rate: 700, quantity: 2 }), line(100)]);
  none.byLine([0, 1]);
  none.refunds.push({
    amount: 100n,
    taxes: [{ rate: 700, net: 93, tax: 7, gross: 100 }],
    lineItems: null,
  });
  assert.equal(none.byLine([0, 1]), 'amount_too_large line_items');
});

test('lines below 0 are returned only with others, and the last refund takes every rate', () => {
  const sale = () => new Sold([line(1_910, { tax_rate: 700 }), line(-250, { tax_rate: 1_900 })]);
  const [alone, above, both] = [sale(), sale(), sale()];
  assert.equal(alone.byLine([1, 1]), 'parameter_invalid line_items');
  assert.equal(above.byLine([0, 1]), 'amount_too_large line_items');
  assert.equal(both.byLine([0, 1], [1, 1]), 1_660);
  assert.deepEqual(both.lastTaxes(), taxTable(both.lines));
  const sums = sale();
  assert.deepEqual(sums.bySum(830n).at(-1), { rate: 1_900, net: 0, tax: 0, gross: 0 });
  assert.deepEqual(sums.bySum(830n).at(-1), { rate: 1_900, net: -210, tax: -40, gross: -250 });
});

test('an unknown line, the same line twice, or more than is left of it is refused', () => {
  const sale = new Sold([line(100, { quantity: 2 }), line(0)]);
  assert.deepEqual(
    [sale.byLine([2, 1]), sale.byLine([0, 1], [0, 1]), sale.byLine([0, 3]), sale.byLine([1, 1])],
    [
      'parameter_invalid line_items.0.line',
      'parameter_invalid line_items.1.line',
      'amount_too_large line_items.0.quantity',
      'parameter_invalid line_items',
    ],
  );
  assert.equal(sale.refunds.length, 0);
});

type Next = (below: number) => number;
const RATES = [0, 260, 700, 1_000, 1_900, 10_000];

function randomSale(next: Next): Sold {
  const lineItems = Array.from({ length: 1 + next(5) }, (_, index) => {
    const unit_amount = index > 0 && next(5) === 0 ? -next(400) : 1 + next(3_000);
    const quantity = next(4) === 0 ? `${next(3)}.${1 + next(999)}` : 1 + next(4);
    const tax_rate = RATES[next(RATES.length)] ?? 0;
    return line(unit_amount, { quantity, tax_rate, tax_inclusive: next(3) > 0 });
  });
  const above = lineItems.map(linePrice).filter((price) => price > 0n);
  const most = Number(above.reduce((sum, price) => sum + price, 0n));
  const sale = { discount: next(2) * next(Math.floor(most / 2) + 1), tip: next(2) * next(500) };
  const sold = new Sold(lineItems, sale);
  return sold.whole > 0n ? sold : randomSale(next);
}

/** Refunds random parts of lines, or a random sum; the last refund takes what is left. */
function refundRandomly(sold: Sold, next: Next): void {
  for (let tries = 0; tries < 5 && sold.left().all > 0n; tries++) {
    const before = sold.left();
    if (next(3) > 0) {
      const lines = sold.lines.lineItems.map((_, index) => index).filter(() => next(2) === 0);
      const parts = lines.map((index) => {
        const whole = sold.lines.lineItems[index]?.quantity ?? 1;
        return [index, next(2) === 0 ? whole : `0.${1 + next(999)}`] as const;
      });
      sold.byLine(...parts);
    } else {
      sold.bySum(BigInt(1 + next(Number(before.all))));
    }
    assert.ok(sold.left().all >= 0n && sold.left().all <= before.all);
  }
  const { all } = sold.left();
  if (all > 0n) sold.bySum(all);
}

/** Number of random sales, which take a few seconds. */
const SALES = 100_000;

test(`${SALES} sales: never more than was paid, and each rate adds up to what was sold`, () => {
  const { below: next } = createRandom(20_261_130, 'refunded sales');
  let byLine = 0;
  for (let count = 0; count < SALES; count++) {
    const sold = randomSale(next);
    refundRandomly(sold, next);
    const { refunds, whole } = sold;
    const given = refunds.reduce((sum, { amount }) => sum + amount, 0n);
    assert.equal(given, whole);
    assert.ok(sold.left().rates.every(({ gross, tax }) => gross === 0n && tax === 0n));
    for (const { amount, taxes, lineItems } of refunds) {
      const gross = (taxes ?? []).reduce((sum, row) => sum + row.gross, 0);
      assert.ok((taxes ?? []).every((row) => row.net + row.tax === row.gross));
      assert.ok(gross <= Number(amount));
      if (lineItems === null) continue;
      byLine++;
      const parts = lineItems.reduce((sum, part) => sum + part.amount, 0);
      assert.equal(parts, Number(amount));
    }
  }
  assert.ok(byLine > SALES / 2, `only ${byLine} refunds by line`);
});
