import { actorId, recordEntry } from '#audit/audit.ts';
import { recordTenantChange } from '#audit/record-change.ts';
import { type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { hashShortCode, newShortCode } from '#core/short-code.ts';
import type { Database, Tx } from '#db/database.ts';
import { addressBucket, PAIRINGS_PER_ADDRESS, takeAttempt } from '#people/attempt-limits.ts';
import type { TerminalRef } from '#terminals/change-terminal.ts';
import { issueDeviceKey } from '#terminals/device-key.ts';
import {
  lockTerminal,
  type PairingTarget,
  replacePairingCode,
  revokeDeviceKeys,
  selectPairingTarget,
  takePairingCode,
} from '#terminals/provisioning-queries.ts';

/** Validity of a pairing code: enough to walk from the office to the counter. */
const VALID_MS = 10 * 60_000;
/**
 * Creates a short code that a terminal exchanges for a device key, for devices on which 48
 * characters cannot be typed. It works once, for ten minutes; a newer code replaces it.
 */
export async function createPairingCode(
  tx: Tx,
  ref: TerminalRef & { readonly byFreshFactor: boolean },
): Promise<{ readonly code: string; readonly expiresAt: Date } | Refusal> {
  const row = await lockTerminal(tx, ref.tenant, ref.id);
  if (row === undefined) return resourceMissing('terminal');
  const code = newShortCode();
  const expiresAt = addMs(ref.now, VALID_MS);
  const { byFreshFactor, now } = ref;
  const hash = hashShortCode('pairing', code);
  await replacePairingCode(tx, { hash, terminalId: row.id, byFreshFactor, now, expiresAt });
  await recordTenantChange(tx, ref, {
    action: 'terminal.pairing_code_created',
    objectId: row.id,
    after: { expires_at: expiresAt.toISOString(), by_fresh_factor: byFreshFactor },
  });
  return { code, expiresAt };
}

interface ShownCode {
  readonly code: string;
  readonly address: string;
  readonly now: Date;
}

function codeInvalid(): Refusal {
  return refuse(
    'parameter_invalid',
    'This code is not valid. It works once, for ten minutes. Create a new one in the dashboard.',
    'code',
  );
}

/**
 * Counts a guess against the IP address's limit of 20 in 15 minutes. Guessing is hopeless: codes
 * have 39 bits and are valid for 10 minutes.
 */
function countGuess(db: Database, { address, now }: ShownCode): Promise<Refusal | null> {
  const bucket = addressBucket('pairing', address);
  return takeAttempt(db, bucket, { allowance: PAIRINGS_PER_ADDRESS, now });
}

/** Returns the terminal that this code would pair, without consuming the code. */
export async function lookAtPairingCode(
  db: Database,
  shown: ShownCode,
): Promise<PairingTarget | Refusal> {
  const tooMany = await countGuess(db, shown);
  if (tooMany !== null) return tooMany;
  const filter = { hash: hashShortCode('pairing', shown.code), now: shown.now };
  return (await selectPairingTarget(db, filter)) ?? codeInvalid();
}

/**
 * Exchanges a pairing code for a device key of its terminal. Earlier keys of the terminal become
 * invalid.
 */
export async function redeemPairingCode(
  db: Database,
  shown: ShownCode,
): Promise<{ readonly terminalId: string; readonly deviceKey: string } | Refusal> {
  const { now, address } = shown;
  const tooMany = await countGuess(db, shown);
  if (tooMany !== null) return tooMany;
  return db.transaction(async (tx) => {
    const taken = await takePairingCode(tx, { hash: hashShortCode('pairing', shown.code), now });
    if (taken === undefined) return codeInvalid();
    const { terminal_id: terminalId, account_id: auditLog, livemode } = taken;
    await revokeDeviceKeys(tx, { terminalId, now });
    const deviceKey = await issueDeviceKey(tx, { terminalId, livemode, now });
    const actor = { type: 'system', name: 'terminal pairing' } as const;
    await recordEntry(tx, {
      auditLog,
      actor,
      action: 'terminal.paired',
      objectId: terminalId,
      livemode,
      before: null,
      after: { by: actorId(actor), address },
      now,
    });
    return { terminalId, deviceKey };
  });
}
