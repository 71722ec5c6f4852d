import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { MODE, type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { createStreamSlots } from '#apis/merchant/stream-slots.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Place } from '#db/paging.ts';
import { selectEvent } from '#events/event-queries.ts';
import { retainedSince } from '#events/event-retention.ts';
import {
  type StreamedEvent,
  selectEventsAfter,
  selectNewestPlace,
} from '#events/stream-queries.ts';
import { idOf } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

/**
 * Time between polls. Events must arrive within a second, in which there are two polls. A poll
 * costs 0.1 ms. `endingWithRole` ends the streams of people who have lost their rights.
 */
const LOOK_EVERY_MS = 400;
/**
 * Time between keep-alive comments, because proxies close connections that are silent for a minute.
 */
const COMMENT_EVERY_MS = 15_000;
/**
 * Longest duration of a stream. The browser then reconnects automatically, which checks its session
 * and role again.
 */
const MAX_MS = 5 * 60_000;
const BATCH = 100;
/** Maximum number of open streams (browser tabs) of one person, in all processes together. */
const MAX_STREAMS = 10;

const FeedQuery = Type.Object({ last_event_id: Type.Optional(idOf('evt_', 'event')) });

function render(row: StreamedEvent): string {
  return `id: ${row.id}\nevent: ${row.type}\ndata: ${row.body}\n\n`;
}

/**
 * Returns the position after which the stream starts: the last event that the client received or,
 * for a new client, the newest event.
 */
async function startPlace(
  { db }: ApiContext,
  listener: { readonly tenant: Tenant; readonly lastId: string | null; readonly now: Date },
): Promise<Place> {
  const { tenant, lastId: id, now } = listener;
  const since = retainedSince(now);
  const seen = id === null ? undefined : await selectEvent(db, tenant, { id, since });
  return seen ?? selectNewestPlace(db, tenant);
}

interface Following {
  readonly tenant: Tenant;
  readonly start: Place;
  readonly gone: AbortSignal;
}

/**
 * Yields events as they are committed, until the client leaves, the client's rights end, or the
 * stream has lasted MAX_MS.
 */
async function* follow(
  { db }: ApiContext,
  { tenant, start, gone }: Following,
): AsyncGenerator<string> {
  const begun = performance.now();
  let spoke = begun;
  let after = start;
  yield 'retry: 1000\n\n';
  while (!gone.aborted && performance.now() - begun < MAX_MS) {
    const rows = await selectEventsAfter(db, tenant, { after, limit: BATCH });
    const last = rows.at(-1);
    if (last !== undefined) {
      after = last;
      spoke = performance.now();
      yield rows.map(render).join('');
    } else if (performance.now() - spoke > COMMENT_EVERY_MS) {
      spoke = performance.now();
      yield ': still here\n\n';
    }
    if (rows.length < BATCH) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: gone }).catch(() => {});
    }
  }
}

function tooMany(): Refusal {
  return {
    ...refuse(
      'rate_limit_exceeded',
      `A session can have at most ${MAX_STREAMS} open feeds. Close a tab.`,
    ),
    headers: { 'Retry-After': '10' },
  };
}

/**
 * Returns the route that sends all events of a mode as server-sent events. After a broken
 * connection, clients can resume.
 */
export function feedRoutes(ctx: ApiContext): PersonRoute[] {
  const slots = createStreamSlots(ctx, MAX_STREAMS);
  const route = personRoute<typeof FeedQuery>({
    method: 'GET',
    path: `${MODE}/feed`,
    operationId: 'followEvents',
    moves: 'nothing',
    tag: 'Live feed',
    summary: 'Follow events as they happen, as server-sent events',
    description:
      'After a lost connection the browser sends Last-Event-ID and misses nothing of the last ' +
      '30 days. ' +
      'Without it the feed begins now. It ends every five minutes, and within a second when the ' +
      'session or the role ends; browsers reconnect by themselves.',
    access: 'viewer',
    query: FeedQuery,
    returns: 'The events, one after the other.',
    sends: ['text/event-stream'],
    errors: ['rate_limit_exceeded'],
    handle: async ({ caller, query, now, whenGone }) => {
      const { tenant } = caller;
      const { user_id: userId } = sessionOf(caller);
      // Runs before any other await, so that only ten of many simultaneous requests get a slot.
      const free = await slots.take(userId);
      if (free === null) return tooMany();
      const lastId = caller.lastEventId ?? query.last_event_id ?? null;
      const start = await startPlace(ctx, { tenant, lastId, now }).catch((error: unknown) => {
        free();
        throw error;
      });
      const following = { tenant, start, gone: whenGone() };
      const stream = Readable.from(follow(ctx, following), { highWaterMark: 1 });
      stream.once('close', free);
      return {
        status: 200,
        stream,
        headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
      };
    },
  });
  return [route];
}
