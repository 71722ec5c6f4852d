import type { Tx } from '#db/database.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import {
  acceptRefused,
  type ForeignRange,
  type FoundForeignRow,
  insertForeign,
} from '#settlement/foreign-settlement-queries.ts';

/** The alarm's kind, whether or not the merchant has an account here: docs/behavior.md, 16.10. */
const FOREIGN = 'foreign_key_used';

/**
 * Raises alarms about events in these blocks that no row explains, and records the events, but
 * books nothing. Must not be called after a loss, because rows are missing then.
 */
export async function noteForeign(tx: Tx, range: ForeignRange, now: Date): Promise<void> {
  const rows = await insertForeign(tx, range, now);
  await insertAlarms(tx, range.livemode, alarmsOfForeign(rows), now);
  await acceptRefused(tx, range.livemode, now);
}

/**
 * Returns one alarm per merchant that has an account, and one alarm per event of other merchants.
 */
export function alarmsOfForeign(foreign: readonly FoundForeignRow[]): Alarm[] {
  const merchants = Map.groupBy(
    foreign.filter((row) => row.account_id !== null),
    (row) => row.merchant_number,
  );
  return [
    ...[...merchants].map(([number, rows]) => alarmOf(number, rows)),
    ...foreign.filter((row) => row.account_id === null).map(unknownMerchant),
  ];
}

/**
 * Returns one alarm for all of a merchant's events, because a thief may settle thousands of
 * payments.
 */
function alarmOf(merchant: bigint, rows: readonly FoundForeignRow[]): Alarm {
  const [first] = rows;
  const details = {
    account: first?.account_id,
    count: rows.length,
    amount: rows.reduce((sum, { amount }) => sum + amount, 0n),
    first: { kind: first?.kind, number: first?.number, tx_hash: first?.tx_hash },
  };
  return { kind: FOREIGN, subject: `merchant ${merchant}`, details };
}

/** Returns an alarm that has the same subject as reconciliation's difference about the event. */
function unknownMerchant({ kind, number, tx_hash, ...row }: FoundForeignRow): Alarm {
  const { merchant_number, address, amount } = row;
  const subject = kind === 'refund' ? `refund ${number}/${tx_hash}` : `${kind} ${number}`;
  const details = { merchant_number, address, amount, tx_hash };
  return { kind: FOREIGN, subject, details };
}
