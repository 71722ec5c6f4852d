import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { accountTime } from '#db/commit-order.ts';
import { Abandon, type Database } from '#db/database.ts';
import { EVENT_TYPES, familyOf } from '#events/event-types.ts';
import { forgetDeliveryDays } from '#webhooks/count-deliveries-by-day.ts';
import { lockEndpoint } from '#webhooks/endpoint-queries.ts';
import { checkEnabledEvents, type WebhookDeps } from '#webhooks/endpoint-rules.ts';
import {
  backlogOf,
  type ReplayRow,
  replayPortion,
  selectReplay,
  selectRunningReplay,
  updateReplay,
  webhookReplays,
} from '#webhooks/replay-queries.ts';

export interface StartReplay {
  readonly since: Date;
  /** Default: now. */
  readonly until: Date | null;
  /** Types, families or `*`. Default: the endpoint's subscription. */
  readonly types: readonly string[] | null;
}

/** Events per batch: few enough for a short transaction and little repeated work after a crash. */
const PORTION = 500;
/** A replay pauses while this many deliveries of its endpoint are undelivered. */
const MAX_BACKLOG = 5_000;

/** Renders a replay: a request to send events again, and its progress. */
export function renderReplay(row: ReplayRow): { [key: string]: Json } {
  return {
    id: row.id,
    object: 'webhook_replay',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    webhook_endpoint: row.endpoint_id,
    since: row.since.toISOString(),
    until: row.until.toISOString(),
    types: row.types,
    status: row.status,
    events_queued: row.events_queued,
    created: row.created.toISOString(),
    updated: row.updated.toISOString(),
  };
}

/** Expands types, families and `*` to types. A ping is never replayed. */
export function expandTypes(types: readonly string[]): string[] {
  const patterns = new Set(types);
  return EVENT_TYPES.filter(
    (type) =>
      type !== 'ping' && (patterns.has('*') || patterns.has(type) || patterns.has(familyOf(type))),
  );
}

function disabled(): Refusal {
  return refuse(
    'parameter_invalid',
    'This webhook endpoint is disabled. Enable it first (PATCH with status "enabled").',
    'id',
  );
}

/**
 * Requests that every event of a period be sent to the endpoint again, even if it was already
 * delivered (receivers recognize events by their ID). A worker queues the events in batches, and
 * resumes after a crash.
 */
export async function startReplay(
  ctx: Pick<WebhookDeps, 'db' | 'wakeups'>,
  tenant: Tenant,
  endpointId: string,
  order: { readonly input: StartReplay; readonly now: Date },
): Promise<ReplayRow | Refusal> {
  const { input, now } = order;
  // Events are searched by `created`, which follows the account's clock.
  const latest = await accountTime(ctx.db, tenant, now);
  const until = input.until === null || input.until > latest ? latest : input.until;
  // Not `>=`: every comparison with an invalid Date is false, and a leap second is a valid
  // date-time that yields an invalid Date.
  if (!(input.since < until)) {
    return refuse('parameter_invalid', 'since must be before until, and in the past.', 'since');
  }
  const types = input.types === null ? null : checkEnabledEvents(input.types, 'types');
  if (isRefusal(types)) return types;
  const started = await ctx.db.transaction<ReplayRow | Refusal>(async (tx) => {
    const no = (refusal: Refusal) => new Abandon<ReplayRow | Refusal>(refusal);
    const endpoint = await lockEndpoint(tx, tenant, endpointId);
    if (endpoint === undefined) return no(resourceMissing('webhook endpoint'));
    if (endpoint.status === 'disabled') return no(disabled());
    return webhookReplays.insert(tx, {
      id: newId('webhookReplay', now),
      account_id: tenant.accountId,
      livemode: tenant.livemode,
      endpoint_id: endpointId,
      since: input.since,
      place_created: input.since,
      until,
      types: [...(types ?? endpoint.enabled_events)],
      created: now,
      updated: now,
    });
  });
  if (!isRefusal(started)) ctx.wakeups.send('webhook-replays');
  return started;
}

export async function getReplay(
  ctx: Pick<WebhookDeps, 'db'>,
  tenant: Tenant,
  id: string,
): Promise<ReplayRow | Refusal> {
  return (await selectReplay(ctx.db, tenant, id)) ?? resourceMissing('webhook replay');
}

export interface ReplayStep {
  /** True if another batch can run immediately. */
  readonly more: boolean;
  readonly deliveries: number;
}

/**
 * Runs one batch of one running replay. Its deliveries and its progress commit together. Several
 * workers may call this concurrently; each takes a different replay.
 */
export async function replayStep(db: Database, now: Date): Promise<ReplayStep> {
  return db.transaction(async (tx) => {
    const replay = await selectRunningReplay(tx, MAX_BACKLOG);
    if (replay === undefined) return { more: false, deliveries: 0 };
    const room = Math.min(PORTION, MAX_BACKLOG - (await backlogOf(tx, replay, MAX_BACKLOG)));
    const types = expandTypes(replay.types);
    await forgetDeliveryDays(tx, {
      endpointId: replay.endpoint_id,
      since: replay.place_created,
      until: replay.until,
    });
    const portion = await replayPortion(tx, { replay, types, now, limit: room });
    const last = portion.at(-1);
    const after: ReplayRow = {
      ...replay,
      status: portion.length < room ? 'completed' : 'running',
      place_created: last?.event_created ?? replay.place_created,
      place_position: last?.event_position ?? replay.place_position,
      updated: now,
    };
    await updateReplay(tx, after, portion.length);
    return { more: true, deliveries: portion.length };
  });
}
