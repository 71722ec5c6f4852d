import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { webhookLeases } from '#webhooks/delivery-queue-queries.ts';
import { PLACE_COLUMNS } from '#webhooks/delivery-tables.ts';
import { type EndpointRow, webhookEndpoints } from '#webhooks/endpoint-rules.ts';

export async function selectEndpoints(sql: Sql, tenant: Tenant): Promise<EndpointRow[]> {
  return webhookEndpoints.list(
    sql,
    'where account_id = $1 and livemode = $2 order by created desc, id desc',
    [tenant.accountId, tenant.livemode],
  );
}

export async function selectEndpoint(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<EndpointRow | undefined> {
  return webhookEndpoints.findOwn(sql, tenant, id);
}

/**
 * Locks the endpoint and its lease, so that results wait for the change and are then checked
 * against it. Workers pass `null` as the tenant, because they serve all accounts.
 */
export async function lockEndpoint(
  tx: Tx,
  tenant: Tenant | null,
  id: string,
): Promise<EndpointRow | undefined> {
  const rows = await tx.query<EndpointRow>(
    `select ${webhookEndpoints.of('e')}
     from webhook_endpoint_leases l join webhook_endpoints e on e.id = l.endpoint_id
     where l.endpoint_id = $1 and ($2::text is null or (e.account_id = $2 and e.livemode = $3))
     for update of l, e`,
    [id, tenant?.accountId ?? null, tenant?.livemode ?? null],
  );
  return rows[0];
}

/**
 * Concurrent creations in one account and mode wait for each other, so that they cannot exceed the
 * limit. Takes a position in the account's order, so that the new endpoint gets all later events.
 */
export async function countEndpointsLocked(tx: Tx, tenant: Tenant): Promise<number> {
  const values = [tenant.accountId, tenant.livemode];
  await tx.query(
    `update account_modes set position = position + 1
     where account_id = $1 and livemode = $2`,
    values,
  );
  return webhookEndpoints.count(tx, 'where account_id = $1 and livemode = $2', values);
}

export type NewEndpoint = Pick<
  EndpointRow,
  | 'id'
  | 'account_id'
  | 'livemode'
  | 'url'
  | 'enabled_events'
  | 'description'
  | 'api_version'
  | 'secret'
  | 'created'
>;

export async function insertEndpoint(tx: Tx, row: NewEndpoint): Promise<EndpointRow> {
  const endpoint = await webhookEndpoints.insert(tx, { ...row, updated: row.created });
  await webhookLeases.insertAll(tx, [{ endpoint_id: row.id }]);
  return endpoint;
}

/** SQL: always later than the previous change, because workers compare the times. */
const UPDATED = `updated = greatest($2, updated + interval '1 ms'), version = version + 1`;

export async function updateEndpoint(
  tx: Tx,
  { id, updated }: Pick<EndpointRow, 'id' | 'updated'>,
  change: Partial<EndpointRow>,
): Promise<EndpointRow[]> {
  const which = { where: 'id = $1', values: [id, updated], also: UPDATED };
  return webhookEndpoints.update(tx, change, which);
}

export async function replaceSecret(
  tx: Tx,
  change: Pick<EndpointRow, 'id' | 'secret' | 'previous_secret_until' | 'updated'>,
): Promise<EndpointRow[]> {
  const { id, secret, previous_secret_until, updated } = change;
  const also = `previous_secret = secret, updated = greatest($2, updated + interval '1 ms')`;
  const which = { where: 'id = $1', values: [id, updated], also };
  return webhookEndpoints.update(tx, { secret, previous_secret_until }, which);
}

/** Clears the consecutive failures and the pause of an endpoint; `failing_since` is kept. */
export async function forgetFailures(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `update webhook_endpoint_leases set consecutive_failures = 0, not_before = '-infinity'
     where endpoint_id = $1`,
    [id],
  );
}

/** Makes the next delivery due at once, even for a broken endpoint. */
export async function liftPause(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `update webhook_endpoint_leases set not_before = '-infinity' where endpoint_id = $1`,
    [id],
  );
}

/** Deletes the endpoint, its lease, its replays and its undelivered work. */
export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `with dropped as (delete from webhook_due where endpoint_id = $1)
     delete from webhook_endpoints where id = $1`,
    [id],
  );
}

/** Ends a disabled endpoint's undelivered work as failed. A replay can queue it again. */
export async function endDueDeliveries(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.query(
    `with ended as (delete from webhook_due where endpoint_id = $1 returning *)
     insert into webhook_deliveries
       (${PLACE_COLUMNS}, status, updated, attempt, response_status, response_body, error,
        duration_ms)
     select ${PLACE_COLUMNS}, 'failed', $2, attempt, response_status, response_body,
       'endpoint_disabled', duration_ms
     from ended`,
    [id, now],
  );
}

/** Returns endpoints without a success since `before`. */
export async function selectLongFailing(sql: Sql, before: Date, limit: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from webhook_endpoints where status = 'enabled' and failing_since <= $1
     order by failing_since limit $2`,
    [before, limit],
  );
  return rows.map((row) => row.id);
}

/**
 * Records a manual test: a success clears the endpoint's failures; a failure may be the first of
 * several.
 */
export async function noteTest(
  tx: Tx,
  tested: { readonly id: string; readonly succeeded: boolean; readonly at: Date },
): Promise<void> {
  await tx.query(
    `update webhook_endpoints
     set failing_since = case when $2 then null else coalesce(failing_since, $3) end
     where id = $1`,
    [tested.id, tested.succeeded, tested.at],
  );
}
