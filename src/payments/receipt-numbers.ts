import { randomInt } from 'node:crypto';
import { assert, present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

export type ReceiptKind = 'payment' | 'refund' | 'shift';

/** Easy to read on paper and to type: no vowels and no characters that look alike. */
const LETTERS = '23456789BCDFGHJKMNPQSTVWXZ';
const PREFIX_LENGTH = 5;
/**
 * First letters of the prefixes of refunds and of shift reports, which no sale's prefix contains,
 * so that they cannot be confused.
 */
const FIRST_LETTER: Readonly<Record<ReceiptKind, string>> = {
  payment: '',
  refund: 'R',
  shift: 'L',
};

/**
 * Draws a prefix: one of 26^5 for sales, or 26^4 for refunds and reports, per account and mode. If
 * it is already in use, the transaction fails and is retried. A prefix from a period that a restore
 * lost is drawn again once in millions of losses.
 */
function drawPrefix(kind: ReceiptKind): string {
  let prefix = FIRST_LETTER[kind];
  while (prefix.length < PREFIX_LENGTH) prefix += LETTERS[randomInt(LETTERS.length)];
  return prefix;
}

export interface Numbered {
  readonly account_id: string;
  readonly livemode: boolean;
  readonly terminal_id: string;
}

/** Each terminal's series of numbers: of sales, refunds and shift reports. */
export const receiptSeries = table('receipt_series', {
  livemode: 'boolean',
  terminal_id: 'text',
  kind: as<ReceiptKind>('text'),
  prefix: 'text',
  given: 'bigint',
});

const GIVEN = receiptSeries.pick(['terminal_id', 'prefix', 'given']);

const GIVE = `
  insert into receipt_series (account_id, livemode, prefix, terminal_id, kind, given, begun_at)
  select account_id, livemode, prefix, terminal_id, $6, count, $7
  from unnest($1::text[], $2::boolean[], $3::text[], $4::text[], $5::bigint[])
    as t (account_id, livemode, prefix, terminal_id, count)
  on conflict (terminal_id, kind) where ended_at is null
  do update set given = receipt_series.given + excluded.given
  returning ${GIVEN}`;

/**
 * Reserves each terminal's next numbers for these objects, with one statement. Call it after
 * stamping the accounts' orders, whose locks serialize transactions of one terminal without
 * deadlocks. @returns a function that returns the terminal's next reserved number at each call.
 */
export async function giveReceiptNumbers(
  tx: Tx,
  sales: readonly Numbered[],
  given: { readonly kind: ReceiptKind; readonly now: Date },
): Promise<(terminalId: string) => string> {
  const counts = new Map<string, { readonly object: Numbered; count: number }>();
  for (const object of sales) {
    const known = counts.get(object.terminal_id);
    if (known === undefined) counts.set(object.terminal_id, { object, count: 1 });
    else known.count++;
  }
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const rows =
    sorted.length === 0
      ? []
      : await tx.query<Row<typeof GIVEN>>(GIVE, [
          sorted.map(([, { object }]) => object.account_id),
          sorted.map(([, { object }]) => object.livemode),
          sorted.map(() => drawPrefix(given.kind)),
          sorted.map(([terminalId]) => terminalId),
          sorted.map(([, { count }]) => count),
          given.kind,
          given.now,
        ]);
  const series = new Map(
    rows.map((row) => {
      const { count } = present(counts.get(row.terminal_id), 'terminal of a series');
      return [row.terminal_id, { ...row, next: row.given - BigInt(count) }];
    }),
  );
  return (terminalId) => {
    const own = present(series.get(terminalId), 'series of a terminal');
    own.next++;
    assert(own.next <= own.given, 'more receipt numbers used than given');
    return `${own.prefix}-${own.next}`;
  };
}

/**
 * Ends every receipt series of the mode after a data loss, because customers hold receipts from the
 * lost period with unknown numbers. Each terminal then begins a new series. Call it while holding
 * the order locks of the mode's accounts. Repeating it for the same loss has no effect.
 */
export async function beginSeriesAnew(
  tx: Tx,
  lost: { readonly livemode: boolean; readonly before: Date; readonly now: Date },
): Promise<void> {
  const ended = await tx.query<{
    account_id: string;
    terminal_id: string;
    kind: ReceiptKind;
  }>(
    `update receipt_series set ended_at = $3
     where livemode = $1 and ended_at is null and begun_at < $2
     returning account_id, terminal_id, kind`,
    [lost.livemode, lost.before, lost.now],
  );
  await tx.query(
    `insert into receipt_series
       (account_id, livemode, prefix, terminal_id, kind, given, begun_at, after_loss)
     select account_id, $1, prefix, terminal_id, kind, 0, $2, true
     from unnest($3::text[], $4::text[], $5::text[], $6::text[])
       as t (account_id, prefix, terminal_id, kind)`,
    [
      lost.livemode,
      lost.now,
      ended.map(({ account_id }) => account_id),
      ended.map(({ kind }) => drawPrefix(kind)),
      ended.map(({ terminal_id }) => terminal_id),
      ended.map(({ kind }) => kind),
    ],
  );
}
