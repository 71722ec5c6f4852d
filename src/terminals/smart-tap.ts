import { sign } from 'node:crypto';
import { lockOwnAccount } from '#accounts/account-queries.ts';
import { kybRequired } from '#accounts/create-api-key.ts';
import { recordTenantChange } from '#audit/record-change.ts';
import { type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { decrypt, type RotatingKey } from '#core/bearer-secrets.ts';
import type { Database, Tx } from '#db/database.ts';
import type { DeviceCaller } from '#terminals/authenticate-terminal.ts';
import type { TerminalRef } from '#terminals/change-terminal.ts';
import { selectSmartTap, selectUsedCollectorKey } from '#terminals/collector-key-queries.ts';
import { lockTerminal, updateUnversioned } from '#terminals/provisioning-queries.ts';
import type { TerminalRow } from '#terminals/terminal-queries.ts';

const WHAT = 'Smart Tap in live mode';

/**
 * Sets whether this terminal's reader reads Google Wallet. In live mode this needs approved KYB.
 */
export async function switchSmartTap(
  tx: Tx,
  ref: TerminalRef,
  isOn: boolean,
): Promise<TerminalRow | Refusal> {
  const { tenant, id } = ref;
  if (isOn && tenant.livemode) {
    const account = await lockOwnAccount(tx, tenant.accountId);
    if (account.kyb_status !== 'approved') return kybRequired(WHAT);
  }
  const before = await lockTerminal(tx, tenant, id);
  if (before === undefined) return resourceMissing('terminal');
  if (before.smart_tap === isOn) return before;
  if (isOn && (await selectUsedCollectorKey(tx)) === undefined) return withoutKey();
  const row = await updateUnversioned(tx, id, { smart_tap: isOn });
  await recordTenantChange(tx, ref, {
    action: 'terminal.smart_tap_switched',
    objectId: id,
    before: { smart_tap: before.smart_tap },
    after: { smart_tap: isOn },
  });
  return row;
}

function withoutKey(): Refusal {
  return refuse(
    'not_configured',
    'This network has no Smart Tap key yet. Ask its operator to create one.',
  );
}

/**
 * The data that the signature for a phone covers: two nonces of this tap, and the reader's key for
 * it.
 */
export interface TapToProve {
  readonly readerNonce: Buffer;
  readonly phoneNonce: Buffer;
  /** Compressed, 33 bytes. */
  readonly readerKey: Buffer;
}

export interface CollectorProof {
  readonly collectorId: number;
  readonly keyVersion: number;
  readonly signature: Buffer;
}

/**
 * Signs one tap for a terminal's reader. The network's key never leaves the service. Switching
 * Smart Tap on or off takes effect at the next tap.
 */
export async function proveCollector(
  db: Database,
  cardKey: RotatingKey,
  caller: Pick<DeviceCaller, 'tenant' | 'terminalId' | 'merchant'>,
  tap: TapToProve,
): Promise<CollectorProof | Refusal> {
  const { tenant, terminalId, merchant } = caller;
  if (tenant.livemode && !merchant.kybApproved) return kybRequired(WHAT);
  if (!(await selectSmartTap(db, tenant, terminalId))) {
    return refuse('not_configured', 'Smart Tap is off for this terminal.');
  }
  const key = await selectUsedCollectorKey(db);
  if (key === undefined) return withoutKey();
  const collectorId = Number(key.collector_id);
  const id = Buffer.alloc(4);
  id.writeUInt32BE(collectorId);
  const signed = Buffer.concat([tap.readerNonce, tap.phoneNonce, id, tap.readerKey]);
  const pem = decrypt(cardKey, key.private_key, String(key.version));
  return { collectorId, keyVersion: key.version, signature: sign('sha256', signed, pem) };
}
