import { generateKeyPairSync } from 'node:crypto';
import { type Actor, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { encrypt, type RotatingKey } from '#core/bearer-secrets.ts';
import type { Tx } from '#db/database.ts';
import {
  type CollectorKeyRow,
  collectorKeys,
  lockCollectorKeys,
  updateCollectorKey,
} from '#terminals/collector-key-queries.ts';

/**
 * The status of a network's key for phones with Google Wallet. The key is generated here and never
 * leaves the service, which signs each tap for paired readers (smart-tap.ts). ready ─use→ in_use
 * ─(another is used)→ replaced ─end→ ended; any key can be ended directly.
 */
export type CollectorKeyStatus = 'ready' | 'in_use' | 'replaced' | 'ended';

/**
 * Maximum number of valid keys: the one in use, and its successor or predecessor. Google must know
 * both.
 */
const MOST_VALID = 2;

interface Change {
  readonly actor: Actor;
  readonly reason: string;
  readonly now: Date;
}

/** Returns a key's status among all keys: the most recently activated one is in use. */
export function statusOfKey(
  key: CollectorKeyRow,
  all: readonly CollectorKeyRow[],
): CollectorKeyStatus {
  if (key.ended_at !== null) return 'ended';
  if (key.used_from === null) return 'ready';
  const [from, version] = [key.used_from, key.version];
  const isReplaced = all.some(
    (other) =>
      other.ended_at === null &&
      other.used_from !== null &&
      (other.used_from > from ||
        (other.used_from.getTime() === from.getTime() && other.version > version)),
  );
  return isReplaced ? 'replaced' : 'in_use';
}

/** Creates a key. Its private half is returned only here. Readers use the key after `useKey`. */
export async function makeKey(
  tx: Tx,
  input: Change & { readonly collectorId: bigint; readonly cardKey: RotatingKey },
): Promise<{ readonly row: CollectorKeyRow; readonly privateKey: string } | Refusal> {
  const all = await lockCollectorKeys(tx);
  const valid = all.filter(({ ended_at }) => ended_at === null);
  if (valid.length >= MOST_VALID) {
    const versions = valid.map(({ version }) => version).join(' and ');
    return refuse(
      'unexpected_state',
      `Versions ${versions} are still valid. End one of them first.`,
    );
  }
  const version = (all[0]?.version ?? 0) + 1;
  const pair = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  });
  const row = await collectorKeys.insert(tx, {
    version,
    collector_id: input.collectorId,
    public_key: pair.publicKey,
    private_key: encrypt(Buffer.from(input.cardKey), pair.privateKey, String(version)),
    created: input.now,
  });
  await recordChange(tx, row, { ...input, action: 'collector_key.created' });
  return { row, privateKey: pair.privateKey };
}

function recordChange(
  tx: Tx,
  row: CollectorKeyRow,
  { actor, reason, now, action }: Change & { readonly action: string },
): Promise<void> {
  return recordEntry(tx, {
    auditLog: NETWORK_AUDIT_LOG,
    actor,
    action,
    objectId: `collector_key_${row.version}`,
    livemode: null,
    before: null,
    after: { reason, version: row.version, collector_id: String(row.collector_id) },
    now,
  });
}

async function changeKey(
  tx: Tx,
  version: number,
  input: Change & {
    readonly action: 'collector_key.used' | 'collector_key.ended';
    readonly set: Parameters<typeof updateCollectorKey>[2];
  },
): Promise<CollectorKeyRow | Refusal> {
  const key = (await lockCollectorKeys(tx)).find((each) => each.version === version);
  if (key === undefined) return resourceMissing('collector key');
  if (key.ended_at !== null)
    return refuse('unexpected_state', `Version ${version} of the key has ended.`);
  const row = await updateCollectorKey(tx, version, input.set);
  await recordChange(tx, row, input);
  return row;
}

/** The previous key stays valid until it is ended. */
export function useKey(
  tx: Tx,
  version: number,
  change: Change,
): Promise<CollectorKeyRow | Refusal> {
  const action = 'collector_key.used';
  return changeKey(tx, version, { ...change, action, set: { used_from: change.now } });
}

/**
 * Ends a key and erases its private half. If the key is in use, readers stop reading Google Wallet.
 */
export function endKey(
  tx: Tx,
  version: number,
  change: Change,
): Promise<CollectorKeyRow | Refusal> {
  const action = 'collector_key.ended';
  const set = { ended_at: change.now, private_key: null };
  return changeKey(tx, version, { ...change, action, set });
}
