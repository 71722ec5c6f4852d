import type { Issued } from '#accounts/create-api-key.ts';
import { checkLocation } from '#accounts/locations.ts';
import { type LimitInput, readLimit } from '#accounts/read-limit.ts';
import { recordTenantChange, type TenantRef } from '#audit/record-change.ts';
import { isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { canonicalJson, type Json } from '#core/canonical-json.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import { readName } from '#core/name-rules.ts';
import { storedShopSum } from '#core/shop-limit.ts';
import { staleVersion } from '#core/stale-version.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { announceTerminal } from '#terminals/announce-terminal.ts';
import { issueDeviceKey } from '#terminals/device-key.ts';
import { limitsObject } from '#terminals/offline-limits.ts';
import {
  deletePairingCodes,
  lockTerminal,
  revokeDeviceKeys,
  updateTerminal,
  updateUnversioned,
} from '#terminals/provisioning-queries.ts';
import { type AskedLimits, readOfflineLimits } from '#terminals/read-offline-limits.ts';
import { refundLimitOf } from '#terminals/render.ts';
import type { TerminalRow } from '#terminals/terminal-queries.ts';

export interface TerminalRef extends TenantRef {
  readonly id: string;
}

/** Returns the fields that can be changed, with their API names. */
function changeable(row: TerminalRow) {
  const { label, name, status, platform, software_version, location_id: location } = row;
  const offline = limitsObject(row.offline);
  const own = { label, name, status, platform, software_version, location, offline };
  return { ...own, ...refundLimitOf(row) };
}

function previousAttributesOf(before: TerminalRow, after: TerminalRow): { [key: string]: Json } {
  const now: { readonly [field: string]: Json } = changeable(after);
  const isChanged = ([field, value]: [string, Json]) => {
    return canonicalJson(value) !== canonicalJson(now[field] ?? null);
  };
  return Object.fromEntries(Object.entries<Json>(changeable(before)).filter(isChanged));
}

/**
 * Changes label, name, location, status or offline limits, and emits `terminal.updated` if a value
 * changed. An inactive terminal takes no payments, but its key stays valid. Send the wake-up
 * `deliveries` afterwards.
 */
export async function editTerminal(
  tx: Tx,
  ref: TerminalRef,
  edit: {
    /**
     * The version on which the change is based; `null` for any, because activating and deactivating
     * overwrite nothing.
     */
    readonly version: number | null;
    readonly label?: string | undefined;
    readonly name?: string | undefined;
    readonly status?: 'active' | 'inactive';
    /** One of the account's locations; `null` for none. */
    readonly location?: string | null | undefined;
    readonly offline?: AskedLimits | null | undefined;
    /** Refunds of one sale while nobody is signed in; `null` as the account says. */
    readonly refund_limit?: LimitInput | null | undefined;
  },
): Promise<TerminalRow | Refusal> {
  const before = await lockTerminal(tx, ref.tenant, ref.id);
  if (before === undefined) return resourceMissing('terminal');
  if (edit.version !== null && edit.version !== before.version) return staleVersion(before.version);
  const label = edit.label === undefined ? before.label : readName(edit.label, 'label');
  if (isRefusal(label)) return label;
  const name = edit.name === undefined ? before.name : readName(edit.name, 'name');
  if (isRefusal(name)) return name;
  const { status = before.status } = edit;
  const offline = await offlineAfter(tx, before, edit.offline);
  if (isRefusal(offline)) return offline;
  const { location = before.location_id } = edit;
  const unknown = await checkLocation(tx, [ref.tenant.accountId], location);
  if (unknown !== null) return unknown;
  const limit = await readRefundLimit(tx, before, edit.refund_limit);
  if (isRefusal(limit)) return limit;
  const changed = { ...before, label, name, status, location_id: location, offline, ...limit };
  const previous = previousAttributesOf(before, changed);
  if (Object.keys(previous).length === 0) return before;
  const after = await updateTerminal(tx, changed);
  const stamp = await stampOrder(tx, ref.tenant, ref.now, 1);
  await announceTerminal(tx, after, {
    tenant: ref.tenant,
    type: 'terminal.updated',
    previousAttributes: previous,
    stamp,
  });
  const now: { readonly [field: string]: Json } = changeable(after);
  await recordTenantChange(tx, ref, {
    action: 'terminal.updated',
    objectId: after.id,
    before: previous,
    after: Object.fromEntries(Object.keys(previous).map((field) => [field, now[field] ?? null])),
  });
  return after;
}

/** Returns the changed columns of the limit. */
async function readRefundLimit(
  tx: Tx,
  { account_id: accountId }: TerminalRow,
  input: LimitInput | null | undefined,
): Promise<Partial<TerminalRow> | Refusal> {
  if (input === undefined) return {};
  if (input === null) return { refund_limit: null, refund_limit_presentment: null };
  const place = { accountId, param: 'refund_limit', most: MAX_AMOUNT };
  const limit = await readLimit(tx, input, place);
  if (isRefusal(limit)) return limit;
  return { refund_limit: limit.atoms, refund_limit_presentment: storedShopSum(limit) };
}

/** Returns the offline limits after an edit. */
async function offlineAfter(
  tx: Tx,
  { account_id: accountId, offline: before }: TerminalRow,
  asked: AskedLimits | null | undefined,
): Promise<TerminalRow['offline'] | Refusal> {
  if (asked === undefined) return before;
  return asked === null ? null : readOfflineLimits(tx, { accountId, before }, asked);
}

/**
 * Records a device's report about its software. A change emits `terminal.updated`, but writes no
 * audit entry, because the audit log is about people. Send the wake-up `deliveries` afterwards.
 */
export async function reportSoftware(
  tx: Tx,
  ref: Omit<TerminalRef, 'actor'>,
  report: { readonly platform?: string; readonly software_version?: string },
): Promise<TerminalRow> {
  const { tenant, id, now } = ref;
  const before = present(await lockTerminal(tx, tenant, id), 'terminal of a device');
  const changed = { ...before, ...report };
  const previousAttributes = previousAttributesOf(before, changed);
  if (Object.keys(previousAttributes).length === 0) return before;
  const { platform, software_version } = changed;
  // Users do not edit these fields.
  const after = await updateUnversioned(tx, id, { platform, software_version });
  const stamp = await stampOrder(tx, tenant, now, 1);
  const type = 'terminal.updated';
  await announceTerminal(tx, after, { tenant, type, previousAttributes, stamp });
  return after;
}

/** The old key and unused pairing codes become invalid immediately. */
export async function rotateDeviceKey(
  tx: Tx,
  ref: TerminalRef,
): Promise<Issued<TerminalRow> | Refusal> {
  const row = await lockTerminal(tx, ref.tenant, ref.id);
  if (row === undefined) return resourceMissing('terminal');
  await revokeDeviceKeys(tx, { terminalId: row.id, now: ref.now });
  await deletePairingCodes(tx, row.id);
  const secret = await issueDeviceKey(tx, { terminalId: row.id, ...ref.tenant, now: ref.now });
  await recordTenantChange(tx, ref, {
    action: 'terminal.device_key_rotated',
    objectId: row.id,
  });
  return { row, secret };
}
