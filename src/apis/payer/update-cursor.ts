import type { AskedIntent } from '#apis/payer/confirmation-routes.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { sha256 } from '#core/sha256.ts';
import { openCursor, type Pagination, sealCursor } from '#http/cursors.ts';
import { type PayerResult, RESULT_DIGEST_BYTES, resultDigest } from '#payments/payer-results.ts';

/** What a wallet has been told. */
export interface Told {
  /** All results until then, except those of transactions that committed late. */
  readonly until: Date;
  /** Digest of the confirmations that the last response contained. */
  readonly asked: string;
  /** Digests of the results of the last {@link LATE_MS}. */
  readonly results: ReadonlySet<string>;
}

/**
 * The results of this period before `until` are compared one by one, because a transaction stamps
 * them before it commits, and the clocks of two processes differ. It is longer than a request.
 */
const LATE_MS = 60_000;
const TIME_BYTES = 8;
const ASKED_BYTES = 8;

/** A confirmation counts as another one if the same intent was tapped again. */
export function askedDigest(intents: readonly AskedIntent[]): string {
  const asked = intents.map(({ id, confirm_by: by }) => `${id} ${by.getTime()}`).sort();
  return sha256(asked.join()).toString('hex', 0, ASKED_BYTES);
}

const digestOf = (result: PayerResult) => resultDigest(result).toString('hex');

/** Returns the state after a response with everything that was read at `now`. */
export function tellAll(
  now: Date,
  read: { readonly asked: readonly AskedIntent[]; readonly results: readonly PayerResult[] },
): Told {
  const late = addMs(now, -LATE_MS);
  const results = new Set(read.results.filter(({ at }) => at > late).map(digestOf));
  return { until: now, asked: askedDigest(read.asked), results };
}

/** Returns the results that a wallet has not been told, oldest first. */
export function newResults(told: Told, all: readonly PayerResult[]): PayerResult[] {
  const late = addMs(told.until, -LATE_MS);
  return all
    .filter((result) => result.at > late && !told.results.has(digestOf(result)))
    .sort((a, b) => a.at.getTime() - b.at.getTime());
}

export function sealTold(pagination: Pagination, { until, asked, results }: Told): string {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeBigInt64BE(BigInt(until.getTime()));
  return sealCursor(
    pagination,
    Buffer.from(time.toString('hex') + asked + [...results].join(''), 'hex'),
  );
}

export function openTold(pagination: Pagination, after: string): Told | Refusal {
  const bytes = openCursor(pagination, after);
  if (isRefusal(bytes)) {
    const message = 'after must be the cursor of an earlier response to this wallet, unchanged.';
    return refuse('cursor_invalid', message, 'after');
  }
  const results = new Set<string>();
  for (let at = TIME_BYTES + ASKED_BYTES; at < bytes.length; at += RESULT_DIGEST_BYTES) {
    results.add(bytes.toString('hex', at, at + RESULT_DIGEST_BYTES));
  }
  return {
    until: new Date(Number(bytes.readBigInt64BE(0))),
    asked: bytes.toString('hex', TIME_BYTES, TIME_BYTES + ASKED_BYTES),
    results,
  };
}
