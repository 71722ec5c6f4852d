import { isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import { staleVersion } from '#core/stale-version.ts';
import { stampOrder } from '#db/commit-order.ts';
import { Abandon, type Tx } from '#db/database.ts';
import {
  deleteEndpoint,
  endDueDeliveries,
  forgetFailures,
  lockEndpoint,
  updateEndpoint,
} from '#webhooks/endpoint-queries.ts';
import {
  checkEnabledEvents,
  type EndpointRow,
  type NoteChange,
  type WebhookDeps,
} from '#webhooks/endpoint-rules.ts';
import { checkEndpointUrl } from '#webhooks/endpoint-url.ts';

/** A change of an endpoint; omitted fields are unchanged. */
export interface ChangeEndpoint {
  readonly url?: string;
  readonly enabledEvents?: readonly string[];
  readonly description?: string | null;
  readonly status?: 'enabled' | 'disabled';
}

/** An edit in the dashboard, where another user may have changed the endpoint since it was read. */
export interface EndpointEdit {
  readonly version: number;
  readonly note: NoteChange<{ readonly before: EndpointRow; readonly after: EndpointRow }>;
}

async function checkChange(
  ctx: WebhookDeps,
  tenant: Tenant,
  input: ChangeEndpoint,
): Promise<Refusal | null> {
  const { url, enabledEvents } = input;
  const events = enabledEvents === undefined ? null : checkEnabledEvents(enabledEvents);
  if (isRefusal(events)) return events;
  if (url === undefined) return null;
  return checkEndpointUrl(url, { ...ctx.outside.webhooks, livemode: tenant.livemode });
}

/**
 * Disabling ends undelivered work. Enabling and a new URL clear consecutive failures and the pause,
 * so that the next delivery is due at once.
 */
async function applyChange(
  tx: Tx,
  change: { readonly row: EndpointRow; readonly input: ChangeEndpoint; readonly now: Date },
): Promise<EndpointRow> {
  const { row, input, now } = change;
  const status = input.status ?? row.status;
  const url = input.url ?? row.url;
  const enabling = status === 'enabled' && row.status === 'disabled';
  if (enabling || url !== row.url) await forgetFailures(tx, row.id);
  const events = input.enabledEvents;
  const updated = await updateEndpoint(
    tx,
    { id: row.id, updated: now },
    {
      url,
      enabled_events: events === undefined ? row.enabled_events : [...new Set(events)],
      description: input.description === undefined ? row.description : input.description,
      status,
      disabled_reason:
        status === 'enabled' ? null : (row.disabled_reason ?? 'requested_by_merchant'),
      failing_since: enabling ? null : row.failing_since,
    },
  );
  if (status === 'disabled') {
    // While the account's order is locked, no event can get a delivery to this endpoint.
    await stampOrder(tx, { accountId: row.account_id, livemode: row.livemode }, now, 1);
    await endDueDeliveries(tx, row.id, now);
  }
  return only(updated, 'webhook endpoint');
}

/** Without `edit` it changes whatever version is stored, as the merchant API promises. */
export async function changeEndpoint(
  ctx: WebhookDeps,
  tenant: Tenant,
  id: string,
  change: { readonly input: ChangeEndpoint; readonly now: Date; readonly edit?: EndpointEdit },
): Promise<EndpointRow | Refusal> {
  const { edit } = change;
  const bad = await checkChange(ctx, tenant, change.input);
  if (bad !== null) return bad;
  const changed = await ctx.db.transaction(async (tx) => {
    const row = await lockEndpoint(tx, tenant, id);
    if (row === undefined) {
      return new Abandon<EndpointRow | Refusal>(resourceMissing('webhook endpoint'));
    }
    if (edit !== undefined && edit.version !== row.version) {
      return new Abandon<EndpointRow | Refusal>(staleVersion(row.version));
    }
    const after = await applyChange(tx, { row, ...change });
    await edit?.note(tx, { before: row, after });
    return after;
  });
  ctx.wakeups.send('webhook-endpoints');
  return changed;
}

/**
 * Deletes the endpoint with its undelivered work.
 * @returns true if there was one.
 */
export async function removeEndpoint(
  ctx: WebhookDeps,
  tenant: Tenant,
  id: string,
  now: Date,
  note?: NoteChange<EndpointRow>,
): Promise<true | Refusal> {
  const removed = await ctx.db.transaction<true | Refusal>(async (tx) => {
    const row = await lockEndpoint(tx, tenant, id);
    if (row === undefined) return new Abandon<true | Refusal>(resourceMissing('webhook endpoint'));
    await stampOrder(tx, tenant, now, 1);
    await deleteEndpoint(tx, id);
    await note?.(tx, row);
    return true;
  });
  ctx.wakeups.send('webhook-endpoints');
  return removed;
}
