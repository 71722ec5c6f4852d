import { lockOwnAccount } from '#accounts/account-queries.ts';
import { type Issued, kybRequired } from '#accounts/create-api-key.ts';
import { checkLocation } from '#accounts/locations.ts';
import { recordTenantChange, type TenantRef } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { readName } from '#core/name-rules.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { announceTerminal } from '#terminals/announce-terminal.ts';
import { issueDeviceKey } from '#terminals/device-key.ts';
import { countTerminals } from '#terminals/provisioning-queries.ts';
import type { TerminalRow } from '#terminals/terminal-queries.ts';
import { terminals } from '#terminals/terminal-queries.ts';

/**
 * Maximum number of terminals: more than any chain of shops has, and a limit for runaway scripts.
 */
export const MAX_TERMINALS = 10_000;

/**
 * Creates a terminal with its device key, which is returned only here, and emits
 * `terminal.created`. Send the wake-up `deliveries` after the commit. Live terminals need approved
 * KYB (behavior.md 1.6).
 */
export async function createTerminal(
  tx: Tx,
  input: TenantRef & {
    readonly label: string;
    /** The kind of device; default: the label. */
    readonly name?: string | undefined;
    readonly platform?: string | undefined;
    /** One of the account's locations; `null` for none. */
    readonly location?: string | null | undefined;
  },
): Promise<Issued<TerminalRow> | Refusal> {
  const { tenant, now } = input;
  const label = readName(input.label, 'label');
  if (isRefusal(label)) return label;
  const name = readName(input.name ?? input.label, 'name');
  if (isRefusal(name)) return name;
  const { location = null } = input;
  const unknown = await checkLocation(tx, [tenant.accountId], location);
  if (unknown !== null) return unknown;
  const account = await lockOwnAccount(tx, tenant.accountId);
  if (tenant.livemode && account.kyb_status !== 'approved') return kybRequired('Live terminals');
  if ((await countTerminals(tx, tenant)) >= MAX_TERMINALS) {
    return refuse(
      'unexpected_state',
      `An account can have at most ${MAX_TERMINALS} terminals per mode.`,
    );
  }
  const stamp = await stampOrder(tx, tenant, now, 2);
  const row = await terminals.insert(tx, {
    id: newId('terminal', stamp.created),
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    position: stamp.next(),
    created: stamp.created,
    label,
    name,
    platform: input.platform ?? 'generic',
    location_id: location,
  });
  const secret = await issueDeviceKey(tx, { terminalId: row.id, livemode: row.livemode, now });
  await announceTerminal(tx, row, { tenant, type: 'terminal.created', stamp });
  await recordTenantChange(tx, input, {
    action: 'terminal.created',
    objectId: row.id,
    after: { label, name, platform: row.platform, location },
  });
  return { row, secret };
}
