import Type from 'typebox';
import { actorOf, type PersonRequest, sessionOf } from '#apis/dashboard/person-route.ts';
import type { ProposalRow } from '#apis/operator/proposal-queries.ts';
import type { By } from '#apis/operator/propose-and-approve.ts';
import { NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import type { Tx } from '#db/database.ts';
import { idOf, nullable, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** Request body of changes by staff. All of them require a reason. */
export const ReasonBody = Type.Object({ reason: text(500, 'For the audit log.', 1) });

export function byOf(ctx: ApiContext, { caller, requestId, now }: PersonRequest): By {
  const people = ctx.people.operator;
  return { userId: sessionOf(caller).user_id, actor: actorOf(caller, requestId), now, people };
}

/**
 * Schema of the ID of a proposal that waits for a colleague; `null` if the change was carried out.
 */
export const ProposalId = nullable(
  idOf('prop_', 'proposal that a colleague must approve; `null` if the change was made'),
);

/**
 * Returns the proposal's ID if it waits for a colleague; `null` if it was carried out immediately.
 */
export function waitingOf({ id, status }: Pick<ProposalRow, 'id' | 'status'>): string | null {
  return status === 'open' ? id : null;
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
    auditLog: NETWORK_AUDIT_LOG,
    actor: actorOf(request.caller, request.requestId),
    action: change.action,
    objectId: change.objectId,
    livemode: change.livemode,
    before: null,
    after: { reason: change.reason },
    now: request.now,
  });
}

/** A `JSON.stringify` replacer that converts bigints from the chain to decimal strings. */
export function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
