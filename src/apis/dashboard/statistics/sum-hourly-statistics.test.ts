import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PartRow } from '#apis/dashboard/statistics/statistics-queries.ts';
import { sumParts } from '#apis/dashboard/statistics/sum-hourly-statistics.ts';

const NOTHING = { intents: 0, succeeded: 0, canceled: 0, called_off: 0, payments: 0, refunds: 0 };
const NO_ATOMS = { volume: 0n, tips: 0n, refunded: 0n };

function part(terminal: string, sums: Partial<PartRow>): PartRow {
  const rest = { settle_ms: '{}', declines: {}, is_kept: true };
  return { ...NOTHING, ...NO_ATOMS, ...rest, terminal_id: terminal, ...sums };
}

test('counts, sums and declines of the hours add up per terminal', () => {
  const rows = sumParts('2026-10-01', [
    part('tml_1', { payments: 2, volume: 30n, tips: 2n, declines: { pass_unknown: 1 } }),
    part('tml_1', { payments: 1, volume: 12n, declines: { pass_unknown: 2, risk_blocked: 1 } }),
    part('', { payments: 3, volume: 42n, refunds: 1, refunded: 5n }),
  ]);
  assert.deepEqual(
    rows.map(({ terminal_id: terminal, payments, volume }) => [terminal, payments, volume]),
    [
      ['tml_1', 3, 42n],
      ['', 3, 42n],
    ],
  );
  assert.deepEqual(rows[0]?.declines, { pass_unknown: 3, risk_blocked: 1 });
  assert.deepEqual([rows[1]?.refunds, rows[1]?.refunded], [1, 5n]);
  assert.equal(rows[1]?.settle_ms_median, null, 'no payments');
});

test('a day’s median and 95th percentile are computed from all its payments', () => {
  const hours = fc.array(fc.array(fc.integer({ min: 0, max: 900 })), { maxLength: 24 });
  fc.assert(
    fc.property(hours, (times) => {
      const parts = times.map((hour) => {
        const counts: Record<string, number> = {};
        for (const ms of hour) counts[ms] = (counts[ms] ?? 0) + 1;
        return part('', { settle_ms: JSON.stringify(counts) });
      });
      const all = times.flat().sort((a, b) => a - b);
      const at = (share: number) => all[Math.ceil(share * all.length) - 1] ?? null;
      const [day] = sumParts('2026-10-01', [part('', {}), ...parts]);
      assert.equal(day?.settle_ms_median, at(0.5));
      assert.equal(day?.settle_ms_p95, at(0.95));
    }),
  );
});
