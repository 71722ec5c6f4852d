import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { createStreamKeys } from '#apis/merchant/stream-keys.ts';
import { readTypes, START, StreamQuery, unknownPlace } from '#apis/merchant/stream-query.ts';
import { createStreamSlots, MAX_STREAMS_OF_KEY } from '#apis/merchant/stream-slots.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { retainedSince } from '#events/event-retention.ts';
import { eventStreams } from '#events/event-streams.ts';
import { findEventPlace } from '#events/list-events.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';

const SCOPE = 'events:read';
/** `X-Accel-Buffering: no` tells proxies not to buffer the stream. */
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
};

function tooMany(): Refusal {
  const message = `This key has ${MAX_STREAMS_OF_KEY} open streams. Close one, or share one.`;
  return { ...refuse('rate_limit_exceeded', message), headers: { 'Retry-After': '10' } };
}

interface Wanted {
  readonly tenant: Tenant;
  readonly id: string | null;
  readonly now: Date;
}

/** `null` means now; `undefined` means that there is no event with this ID. */
async function placeAfter(db: Database, { tenant, id, now }: Wanted) {
  if (id === null) return null;
  if (id === START) return { created: retainedSince(now), position: 0n };
  return findEventPlace(db, tenant, { id, now });
}

/**
 * Returns the route that sends events as server-sent events, with the same payloads as webhooks,
 * for clients that prefer to hold a connection open.
 */
export function eventStreamRoute(ctx: ApiContext): AnyRoute<MerchantCaller> {
  const keys = createStreamKeys(ctx);
  const slots = createStreamSlots(ctx);
  return defineRoute<MerchantCaller, typeof StreamQuery>({
    method: 'GET',
    path: '/events/stream',
    operationId: 'streamEvents',
    moves: 'nothing',
    tag: 'Events',
    summary: 'Follow events as they happen, as server-sent events',
    description:
      'Every event of the account and mode, in the list’s order. The server may end a ' +
      'stream at any time: reconnect with `Last-Event-ID`, and you miss nothing of the last 30 ' +
      'days. An event may come twice: deduplicate on its id. A key has at most ' +
      `${MAX_STREAMS_OF_KEY} open streams, and revoking it ends them. A client that reads too ` +
      'slowly is cut off.',
    scope: SCOPE,
    idempotency: 'ignored',
    resumes: true,
    query: StreamQuery,
    responses: {
      200: {
        schema: null,
        contentTypes: ['text/event-stream'],
        description:
          'The events, without end. `id:` is the id of the event, `data:` the event in one ' +
          'line, as webhooks deliver it. A comment is sent every 15 seconds; 45 seconds of ' +
          'silence mean a dead connection.',
      },
    },
    errors: ['cursor_invalid', 'rate_limit_exceeded'],
    handle: async ({ caller, query, lastEventId, now, whenGone }) => {
      const { tenant } = caller;
      const types = readTypes(query.types);
      if (isRefusal(types)) return types;
      const id = lastEventId ?? query.after ?? null;
      const after = await placeAfter(ctx.db, { tenant, id, now });
      if (after === undefined) return unknownPlace(lastEventId === null ? 'after' : null);
      const free = await slots.take(caller.keyId);
      if (free === null) return tooMany();
      const following = { tenant, after, types, gone: whenGone() };
      const reader = await eventStreams(ctx)
        .follow(following)
        .catch((error: unknown) => {
          free();
          throw error;
        });
      const unwatch = keys.watch({ caller, scope: SCOPE }, () => reader.end());
      reader.stream.once('close', () => {
        unwatch();
        free();
      });
      return { status: 200, stream: reader.stream, headers: HEADERS };
    },
  });
}
