import {
  type Entry,
  type EntryRange,
  insertClosing,
  selectClosing,
  selectEntries,
  selectPayoutBefore,
  selectPayoutEntry,
  sumEntries,
} from '#books/entry-queries.ts';
import type { Period } from '#books/round-entries.ts';
import { FORMATS, type LineFormat } from '#books/statement-formats.ts';
import { assert } from '#core/assert.ts';
import { type Days, dayBounds, dayIn, daysInOrder, type ShopDays } from '#core/calendar.ts';
import { addMs } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import { closeOrder } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Place } from '#db/paging.ts';

/**
 * A merchant's balance over a period: opening + entries = closing. `since` and `until` are the
 * times of these balances.
 */
export interface Statement extends Period {
  readonly range: EntryRange;
  /** True for the statement of a payout, whose days follow from its entries. */
  readonly isOfPayout: boolean;
}

interface Wanted {
  readonly tenant: Tenant;
  readonly shop: ShopDays;
  readonly now: Date;
}

function factsOf({ tenant, shop }: Wanted) {
  return { tenant, timeZone: shop.timeZone, dayOf: daysInOrder(shop) };
}

/** Returns a position before all entries of this time, because the lowest position is 1. */
function startOf(moment: Date): Place {
  return { created: moment, position: 0n };
}

const BEGINNING = startOf(new Date(0));

/** Returns the balance at a position, computed from the newest closing before it. */
async function balanceAt(
  tx: Tx,
  tenant: Tenant,
  { place, top }: { readonly place: Place; readonly top: bigint },
): Promise<bigint> {
  const closing = await selectClosing(tx, tenant, place.created);
  const after = closing === undefined ? BEGINNING : startOf(closing.at);
  const { sum } = await sumEntries(tx, tenant, { after, upTo: place, top });
  return (closing?.balance ?? 0n) + sum;
}

/**
 * Opens the statement of some days. Closes days that have ended: what the service learns about them
 * later is booked later. If a day has not ended, the closing balance is the current one.
 * @param closes false to leave the days open, when nobody gets a file.
 */
export async function openDays(
  db: Database,
  input: Wanted,
  { closes = true, ...days }: Days & { readonly closes?: boolean },
): Promise<Statement> {
  const { tenant, shop, now } = input;
  const bounds = dayBounds(shop, days.from, days.to);
  return db.transaction(async (tx) => {
    const { time, top } = await closeOrder(tx, tenant, { now, until: bounds.until });
    const until = least(bounds.until, time);
    const since = least(bounds.since, time);
    const opening = await balanceAt(tx, tenant, { place: startOf(since), top });
    if (closes && since < time) await insertClosing(tx, tenant, { at: since, balance: opening });
    const range = { after: startOf(since), upTo: startOf(until), top };
    const { sum, count } = await sumEntries(tx, tenant, range);
    const closing = opening + sum;
    if (closes && bounds.until <= time) {
      await insertClosing(tx, tenant, { at: until, balance: closing });
    }
    const facts = { ...factsOf(input), ...days, isOfPayout: false };
    return { ...facts, since, until, opening, closing, count, range };
  });
}

function least(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/**
 * Opens the statement of a payout: everything after the previous payout, up to and including this
 * one.
 * @returns `null` if the chain has not paid the payout.
 */
export async function openPayout(
  db: Database,
  input: Wanted,
  id: string,
): Promise<Statement | null> {
  const { tenant, shop, now } = input;
  return db.transaction(async (tx) => {
    const upTo = await selectPayoutEntry(tx, tenant, id);
    if (upTo === undefined) return null;
    const end = addMs(upTo.created, 1);
    const { time, top } = await closeOrder(tx, tenant, { now, until: end });
    const after = (await selectPayoutBefore(tx, tenant, upTo)) ?? BEGINNING;
    const first = after === BEGINNING ? await firstEntry(tx, tenant, { after, upTo, top }) : after;
    const opening = await balanceAt(tx, tenant, { place: after, top });
    const range = { after, upTo, top };
    const { sum, count } = await sumEntries(tx, tenant, range);
    const closing = opening + sum;
    if (end <= time) {
      const balance = await balanceAt(tx, tenant, { place: startOf(end), top });
      await insertClosing(tx, tenant, { at: end, balance });
    }
    const [since, until] = [first.created, upTo.created];
    const days = { from: dayIn(shop, since), to: dayIn(shop, until) };
    const facts = { ...factsOf(input), ...days, isOfPayout: true };
    return { ...facts, since, until, opening, closing, count, range };
  });
}

async function firstEntry(tx: Tx, tenant: Tenant, range: EntryRange): Promise<Place> {
  const [first] = await selectEntries(tx, tenant, { ...range, limit: 1 });
  return first ?? range.upTo;
}

/** Number of entries held in memory per statement. */
const CHUNK = 500;

/**
 * Yields a statement's entries in chunks, as fast as the client takes them. Each chunk is read by a
 * separate query, so that a slow client holds no snapshot. The next chunk is read meanwhile.
 * @throws if the entries do not add up to the closing balance, so that the file ends early.
 */
export async function* entriesOf(db: Database, statement: Statement): AsyncGenerator<Entry[]> {
  const { tenant, range, opening, closing } = statement;
  const read = (after: Place) => {
    const reading = selectEntries(db, tenant, { ...range, after, limit: CHUNK });
    // If the client is gone, nobody awaits the chunk, and its failure must not end the process.
    reading.catch(() => {});
    return reading;
  };
  let balance = opening;
  let next: Promise<Entry[]> | null = read(range.after);
  while (next !== null) {
    const entries: Entry[] = await next;
    const last = entries.at(-1);
    next = entries.length < CHUNK || last === undefined ? null : read(last);
    for (const { amount } of entries) balance += amount;
    if (entries.length > 0) yield entries;
  }
  assert(balance === closing, 'the entries of a statement do not add up to its closing balance');
}

/** Yields a statement's file in chunks. */
export async function* statementFile(
  db: Database,
  statement: Statement,
  format: LineFormat,
): AsyncGenerator<string> {
  const writer = FORMATS[format].open(statement);
  yield writer.head;
  let balance = statement.opening;
  for await (const entries of entriesOf(db, statement)) {
    let text = '';
    for (const entry of entries) {
      balance += entry.amount;
      text += writer.entry(entry, balance);
    }
    if (text !== '') yield text;
  }
  yield writer.tail();
}
