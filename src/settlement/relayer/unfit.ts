import type { Log } from '#core/log.ts';
import type { Tx } from '#db/database.ts';
import { insertAlarms } from '#settlement/relayer/outcome-queries.ts';
import type { Outcome } from '#settlement/requests.ts';

/**
 * An outcome that its object cannot take: it is not waiting for one, or does not exist. Only an
 * outcome ends that waiting, so this cannot happen; if it does, money may have moved without a
 * record. The alarm commits together with the outcome being marked as applied.
 */
export async function alarmUnfit(
  tx: Tx,
  outcome: Outcome,
  found: { readonly status: string | null; readonly now: Date; readonly log: Log },
): Promise<void> {
  const { requestId, kind, livemode, subjectId, result } = outcome;
  const details = { kind, requestId: requestId.toString(), status: found.status, result };
  const alarm = { kind: 'outcome_unfit', subject: subjectId, details };
  await insertAlarms(tx, livemode, [alarm], found.now);
  found.log.error('settlement alarm: outcome_unfit', { subject: subjectId, ...details });
}
