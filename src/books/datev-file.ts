import { selectAccount } from '#accounts/account-queries.ts';
import { selectShopSettings } from '#accounts/shop-settings.ts';
import { DatevBooking, type DatevBooks, type DatevRefusal, noDatevAccounts } from '#books/datev.ts';
import { datevHead, datevRow } from '#books/datev-rows.ts';
import { type Entry, selectRatesBefore } from '#books/entry-queries.ts';
import type { Period } from '#books/round-entries.ts';
import { entriesOf, type Statement } from '#books/statement.ts';
import { type ZipPart, zipped } from '#books/zip.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { type Days, dayAfter } from '#core/calendar.ts';
import { daysBetween } from '#core/check-day-range.ts';
import { encodeWindows1252 } from '#core/windows-1252.ts';
import type { Database } from '#db/database.ts';

/**
 * Writes the statement of a period as batches of DATEV postings. DATEV imports at most 99,999 rows
 * at a time, all of one year, so a longer period has several batches, in an archive.
 */

export const MAX_ROWS = 99_999;

/** A file for one import. */
export interface Batch {
  readonly from: string;
  to: string;
  entries: number;
  rows: number;
}

export interface DatevPlan {
  readonly books: DatevBooks;
  readonly batches: readonly Batch[];
}

function yearOf(day: string): string {
  return day.slice(0, 4);
}

/** Distributes the rows of a period over batches. */
class Batches {
  readonly #days: Days;
  readonly batches: Batch[] = [];

  constructor(days: Days) {
    this.#days = days;
  }

  #open(day: string, isNewYear: boolean): Batch {
    const { from, to } = this.#days;
    const year = yearOf(day);
    const since = yearOf(from) === year ? from : `${year}-01-01`;
    const until = yearOf(to) === year ? to : `${year}-12-31`;
    const batch = { from: isNewYear ? since : day, to: until, entries: 0, rows: 0 };
    this.batches.push(batch);
    return batch;
  }

  add(day: string, rows: number, entries = 1): void {
    let batch = this.batches.at(-1);
    const isNewYear = batch === undefined || yearOf(batch.from) !== yearOf(day);
    if (batch === undefined || isNewYear || batch.rows + rows > MAX_ROWS) {
      // A batch that is full ends on the day on which the next one begins.
      if (batch !== undefined && !isNewYear) batch.to = day;
      batch = this.#open(day, isNewYear);
    }
    batch.rows += rows;
    batch.entries += entries;
  }
}

async function readBooks(db: Database, statement: Statement): Promise<DatevBooks | DatevRefusal> {
  const { tenant, range } = statement;
  const { datev } = present(await selectAccount(db, tenant.accountId), 'account');
  if (datev === null) return noDatevAccounts();
  const { currency } = await selectShopSettings(db, tenant.accountId);
  const rates = await selectRatesBefore(db, tenant, range.after);
  return { accounts: datev, base: currency === 'eur' ? 'EUR' : 'USD', rates };
}

/** A period's entries, in chunks. */
type Chunks = AsyncIterable<readonly Entry[]>;

/** Reads the whole period once, so that a file that has begun never ends with a refusal. */
export async function planDatev(
  db: Database,
  statement: Statement,
): Promise<DatevPlan | DatevRefusal> {
  const books = await readBooks(db, statement);
  if (isRefusal(books)) return books;
  return planBatches(books, statement, entriesOf(db, statement));
}

export async function planBatches(
  books: DatevBooks,
  period: Period,
  chunks: Chunks,
): Promise<DatevPlan | DatevRefusal> {
  const booking = new DatevBooking(books, period);
  const plan = new Batches(period);
  for await (const entries of chunks) {
    for (const entry of entries) {
      const postings = booking.postings(entry);
      if (isRefusal(postings)) return postings;
      plan.add(period.dayOf(entry.created), postings.length);
    }
  }
  const rounding = booking.rounding();
  if (isRefusal(rounding)) return rounding;
  if (rounding !== null || plan.batches.length === 0) {
    plan.add(period.to, rounding === null ? 0 : 1, 0);
  }
  return { books, batches: plan.batches };
}

function crossesYears({ from, to }: Days): boolean {
  return yearOf(from) !== yearOf(to);
}

/** True if a period needs an archive, also if all of its entries are in one of its years. */
export function needsArchive(period: Days, { batches }: DatevPlan): boolean {
  return crossesYears(period) || batches.length > 1;
}

/** Returns why a period does not fit one file, and its halves; `null` if it does. */
export function tooLongForDatev(period: Days, plan: DatevPlan): Refusal | null {
  if (!needsArchive(period, plan)) return null;
  const { from, to } = period;
  const crosses = crossesYears(period);
  const days = daysBetween(from, to);
  const second = crosses
    ? `${Number(yearOf(from)) + 1}-01-01`
    : (days[Math.ceil(days.length / 2)] ?? to);
  const why = crosses
    ? 'A file for DATEV cannot contain two years.'
    : `A file for DATEV has at most ${MAX_ROWS} rows.`;
  const archive = 'Send split=true for an archive with several files';
  const halves = `Export ${from} to ${dayAfter(second, -1)} and ${second} to ${to}, or send`;
  const rest = days.length < 2 ? `${archive}.` : `${halves} split=true for an archive.`;
  return refuse('parameter_invalid', `${why} ${rest}`, 'from');
}

/** Yields the rows of all batches, each chunk with its batch's number. */
async function* batchTexts(
  period: Period,
  { books, batches }: DatevPlan,
  chunks: Chunks,
): AsyncGenerator<{ readonly batch: number; readonly text: string }> {
  const { accounts, base } = books;
  const all = [...Object.values(accounts.revenue), accounts.tips ?? '', accounts.clearing];
  const digits = Math.max(...[...all, accounts.bank, accounts.rounding].map((one) => one.length));
  const head = { currency: base, chart: accounts.chart, digits };
  const booking = new DatevBooking(books, period);
  let [batch, left] = [-1, 0];
  let text = '';
  const open = (): void => {
    batch++;
    const days = present(batches[batch], 'batch');
    left = days.entries;
    text = datevHead(period, days, head);
  };
  open();
  for await (const entries of chunks) {
    for (const entry of entries) {
      while (left === 0) {
        yield { batch, text };
        open();
      }
      left--;
      const postings = booking.postings(entry);
      if (isRefusal(postings)) throw new Error(`a plan has no postings of ${entry.object_id}`);
      text += postings.map(datevRow).join('');
    }
    yield { batch, text };
    text = '';
  }
  while (batch < batches.length - 1) {
    yield { batch, text };
    open();
  }
  const rounding = booking.rounding();
  if (isRefusal(rounding)) throw new Error('a planned file has no rate for its rounding');
  yield { batch, text: text + (rounding === null ? '' : datevRow(rounding)) };
}

/** Yields one file, or an archive. */
export async function* datevFile(
  period: Period,
  plan: DatevPlan,
  chunks: Chunks,
): AsyncGenerator<Buffer> {
  const texts = batchTexts(period, plan, chunks);
  if (needsArchive(period, plan)) {
    yield* zipped(zipParts(texts, batchNames(period, plan.batches)));
    return;
  }
  for await (const { text } of texts) if (text !== '') yield encodeWindows1252(text);
}

/** DATEV recognizes a file by the beginning of its name. */
export const DATEV_PREFIX = 'EXTF_';

/** Batches of the same days, which full ones can have, are numbered. */
function batchNames({ tenant }: Period, batches: readonly Days[]): string[] {
  const stems = batches.map(({ from, to }) => {
    return `${DATEV_PREFIX}tapline-${tenant.accountId}-datev-${from}-${to}`;
  });
  return stems.map((stem, index) => {
    return stems.indexOf(stem) === index ? `${stem}.csv` : `${stem}-${index + 1}.csv`;
  });
}

async function* zipParts(
  texts: AsyncIterable<{ readonly batch: number; readonly text: string }>,
  names: readonly string[],
): AsyncGenerator<ZipPart> {
  for await (const { batch, text } of texts) {
    if (text !== '') yield { name: names[batch] ?? '', bytes: encodeWindows1252(text) };
  }
}
