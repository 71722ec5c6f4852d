import { lockAccount } from '#accounts/account-queries.ts';
import type { Actor } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { type Issued, kybRequired } from '#accounts/create-api-key.ts';
import { readName } from '#accounts/names.ts';
import { only, present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import { hashSecret, newSecret } from '#core/secrets.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents } from '#events/append.ts';
import {
  countTerminals,
  insertDeviceKey,
  insertTerminal,
  type TerminalRow,
} from '#terminals/provisioning-queries.ts';

/** More counters than any store chain has; a bound for scripts that run away. */
export const MAX_TERMINALS = 10_000;

/** The terminal object of api-v1.md section 2. */
export function terminalObject(row: Omit<TerminalRow, 'version'>): { [key: string]: Json } {
  return {
    id: row.id,
    object: 'terminal',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    label: row.label,
    name: row.name,
    platform: row.platform,
    status: row.status,
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
    created: row.created.toISOString(),
  };
}

/** A device key for the terminal, of the terminal's own network. */
export async function issueDeviceKey(
  tx: Tx,
  of: { readonly terminalId: string; readonly livemode: boolean; readonly now: Date },
): Promise<string> {
  const secret = newSecret(of.livemode ? 'deviceKeyLive' : 'deviceKeyTest');
  const { terminalId, now } = of;
  await insertDeviceKey(tx, { hash: hashSecret(secret), terminalId, now });
  return secret;
}

/**
 * A terminal with its device key, which is returned this once; emits `terminal.created`. Send the
 * wake-up `deliveries` after the commit. Live terminals need approved KYB (api-v1.md section 1).
 */
export async function createTerminal(
  tx: Tx,
  input: {
    readonly tenant: Tenant;
    readonly label: string;
    /** What the device is; the label when left out. */
    readonly name?: string | undefined;
    readonly platform?: string | undefined;
    readonly actor: Actor;
    readonly now: Date;
  },
): Promise<Issued<TerminalRow> | Refusal> {
  const { tenant, actor, now } = input;
  const label = readName(input.label, 'label');
  if (isRefusal(label)) return label;
  const name = readName(input.name ?? input.label, 'name');
  if (isRefusal(name)) return name;
  const account = present(await lockAccount(tx, tenant.accountId), 'account');
  if (tenant.livemode && account.kyb_status !== 'approved') return kybRequired('Live terminals');
  if ((await countTerminals(tx, tenant)) >= MAX_TERMINALS) {
    return refuse('unexpected_state', `At most ${MAX_TERMINALS} terminals per mode.`);
  }
  const stamp = await stampOrder(tx, tenant, now, 2);
  const rows = await insertTerminal(tx, {
    id: newId('terminal', stamp.created),
    tenant,
    position: stamp.next(),
    created: stamp.created,
    label,
    name,
    platform: input.platform ?? 'generic',
  });
  const row = only(rows, 'new terminal');
  const secret = await issueDeviceKey(tx, { terminalId: row.id, livemode: row.livemode, now });
  const object = terminalObject(row);
  await appendEvents(tx, [{ tenant, type: 'terminal.created', objectId: row.id, object, stamp }]);
  await recordChange(tx, {
    chain: tenant.accountId,
    actor,
    action: 'terminal.created',
    objectId: row.id,
    livemode: tenant.livemode,
    before: null,
    after: { label, name, platform: row.platform },
    now,
  });
  return { row, secret };
}
