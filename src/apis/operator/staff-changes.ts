import Type from 'typebox';
import { actorOf, type PersonRequest, sessionOf } from '#apis/dashboard/person-route.ts';
import type { By } from '#apis/operator/proposals.ts';
import { NETWORK_TRAIL, recordEntry } from '#audit/audit.ts';
import type { Tx } from '#db/database.ts';
import { text } from '#http/schema.ts';

/** Each change by staff says why. */
export const ReasonBody = Type.Object({ reason: text(500, 'For the audit log.', 1) });

export function byOf({ caller, requestId, now }: PersonRequest): By {
  return { userId: sessionOf(caller).user_id, actor: actorOf(caller, requestId), now };
}

export async function recordByStaff(
  tx: Tx,
  request: PersonRequest,
  change: {
    readonly action: string;
    readonly objectId: string;
    readonly livemode: boolean | null;
    readonly reason: string | null;
  },
): Promise<void> {
  await recordEntry(tx, {
    trail: NETWORK_TRAIL,
    actor: actorOf(request.caller, request.requestId),
    action: change.action,
    objectId: change.objectId,
    livemode: change.livemode,
    before: null,
    after: { reason: change.reason },
    now: request.now,
  });
}

/** Numbers of the chain are decimal strings. */
export function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
