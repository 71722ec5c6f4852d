import type { Static } from 'typebox';
import type { TotalsQuery } from '#apis/merchant/totals-schema.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { checkDays, dayIn } from '#core/days.ts';
import type { Tenant } from '#core/mode.ts';
import { readDate } from '#http/paging.ts';
import type { TotalsOf } from '#payments/totals-queries.ts';

export interface TotalsRequest {
  readonly tenant: Tenant;
  /** Null: all terminals of the account. */
  readonly terminalId: string | null;
  readonly query: Static<typeof TotalsQuery>;
  readonly now: Date;
}

/** A shift that nobody ends is no reason to read everything. */
const LONGEST_SHIFT_MS = 31 * 86_400_000;

export type Span = Pick<TotalsOf, 'from' | 'to' | 'since' | 'until'>;

function readDays({ query, now }: TotalsRequest, timeZone: string): Span | Refusal {
  const from = query.from ?? dayIn(timeZone, now);
  const to = query.to ?? from;
  return checkDays(from, to) ?? { from, to, since: null, until: null };
}

function readShift({ query }: TotalsRequest, timeZone: string): Span | Refusal {
  const since = readDate(query.created_gte, 'created_gte');
  if (isRefusal(since)) return since;
  const end = readDate(query.created_lt, 'created_lt');
  if (isRefusal(end)) return end;
  const wrong = (message: string, param: string) => refuse('parameter_invalid', message, param);
  if (since === null) return wrong('created_lt needs created_gte.', 'created_lt');
  if (query.from !== undefined || query.to !== undefined) {
    return wrong('Send either days (from, to) or a shift (created_gte, created_lt).', 'from');
  }
  const longest = addMs(since, LONGEST_SHIFT_MS);
  const until = end ?? longest;
  if (until <= since) return wrong('created_lt is not after created_gte.', 'created_lt');
  if (until > longest) return wrong('A shift has at most 31 days.', 'created_gte');
  return { from: dayIn(timeZone, since), to: dayIn(timeZone, addMs(until, -1)), since, until };
}

/** The days or the shift that a request asks for. */
export function readSpan(request: TotalsRequest, timeZone: string): Span | Refusal {
  const { created_gte: since, created_lt: until } = request.query;
  const isShift = since !== undefined || until !== undefined;
  return (isShift ? readShift : readDays)(request, timeZone);
}
