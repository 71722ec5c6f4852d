import { type Actor, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import type { Database, Tx } from '#db/database.ts';
import type { AdminInput } from '#ops/admin-input.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { deleteUndecided } from '#settlement/foreign-settlement-queries.ts';
import { endDoubt, lockDoubt, requestRecovery } from '#settlement/network-recovery-queries.ts';
import { stopSender } from '#settlement/sender-rows.ts';

type Outcome = { readonly lines: readonly string[] } | Refusal;

const ACTOR: Actor = { type: 'system', name: 'admin command' };

/**
 * Records the operator's answer to the question asked at start: was this database restored from an
 * earlier copy?
 */
export async function sayRestored(db: Database, input: AdminInput): Promise<Outcome> {
  const [, answer] = input.args;
  if (answer !== 'yes' && answer !== 'no') {
    return refuse('parameter_invalid', 'Usage: restored yes|no');
  }
  return db.transaction<Outcome>(async (tx) => {
    const lines: string[] = [];
    for (const livemode of [false, true]) {
      const said = answer === 'yes' ? await recover(tx, input, livemode) : null;
      const line = said ?? (await stopSenders(tx, input, livemode));
      if (line !== null) lines.push(`${networkOf(livemode)}: ${line}`);
    }
    await recordEntry(tx, {
      auditLog: NETWORK_AUDIT_LOG,
      actor: ACTOR,
      action: 'database.restored',
      objectId: 'database',
      livemode: null,
      before: null,
      after: { answer },
      now: input.now,
    });
    return { lines: lines.length > 0 ? lines : ['No network was waiting for this answer.'] };
  });
}

/**
 * Starts a recovery of both networks, because they share the database. The settlements that seemed
 * foreign are ones that the ledger has lost, so the recovery books them.
 */
async function recover(tx: Tx, { now }: AdminInput, livemode: boolean): Promise<string> {
  await deleteUndecided(tx, livemode);
  await endDoubt(tx, livemode, now);
  await requestRecovery(tx, { livemode, requestCount: null, reason: 'command', lossShown: true });
  return 'a worker books what the database lacks; until then the network takes no payments';
}

/**
 * Stops the senders whose nonces are ahead of the ledger: the database was not restored, so someone
 * else has used their keys.
 */
async function stopSenders(tx: Tx, { now }: AdminInput, livemode: boolean): Promise<string | null> {
  const ahead = Object.entries((await lockDoubt(tx, livemode)) ?? {});
  if (ahead.length === 0) return null;
  for (const [address, nonce] of ahead) {
    const sender = await stopSender(tx, { livemode, address, nextNonce: BigInt(nonce) }, now);
    const details = { address, nonce };
    const alarm = { kind: 'foreign_key_used', subject: `sender ${sender}`, details };
    await insertAlarms(tx, livemode, [alarm], now);
  }
  await endDoubt(tx, livemode, now);
  return `stopped the senders of ${ahead.map(([address]) => address).join(', ')}; others continue`;
}
