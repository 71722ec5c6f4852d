import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { Done } from '#apis/dashboard/person-schema.ts';
import { ReasonBody, recordByStaff } from '#apis/operator/staff-changes.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { resolveAlarm } from '#settlement/alarms.ts';
import { acceptDifference } from '#settlement/reconciliation/reconcile-queries.ts';

const TAG = 'Network';

/**
 * Declares a route that marks an alarm or difference as reviewed. Until then, the service keeps
 * reporting it.
 */
function lookedIntoRoute(
  { db }: ApiContext,
  matter: {
    readonly path: string;
    readonly operationId: string;
    readonly summary: string;
    readonly thing: string;
    readonly action: string;
    readonly status: string;
    readonly write: (tx: Tx, id: bigint, now: Date) => Promise<boolean>;
  },
) {
  const { path, operationId, summary, thing, action, status } = matter;
  return personRoute<undefined, typeof ReasonBody>({
    method: 'POST',
    path,
    operationId,
    moves: 'data',
    tag: TAG,
    summary,
    access: 'operator',
    params: { id: 'text' },
    body: ReasonBody,
    response: Done,
    errors: ['resource_missing'],
    handle: async (request) => {
      const id = request.params.id ?? '';
      if (!/^[1-9]\d{0,17}$/.test(id)) return resourceMissing(thing);
      const { reason } = request.body;
      const done = await db.transaction(async (tx) => {
        if (!(await matter.write(tx, BigInt(id), request.now))) return false;
        await recordByStaff(tx, request, { action, objectId: id, livemode: null, reason });
        return true;
      });
      return done ? answerWith(200, { status }) : resourceMissing(`open ${thing}`);
    },
  });
}

function alarmRoute(ctx: ApiContext) {
  return lookedIntoRoute(ctx, {
    path: '/alarms/{id}/resolve',
    operationId: 'resolveAlarm',
    summary: 'Mark an alarm as reviewed',
    thing: 'alarm',
    action: 'alarm.resolved',
    status: 'resolved',
    write: resolveAlarm,
  });
}

function differenceRoute(ctx: ApiContext) {
  return lookedIntoRoute(ctx, {
    path: '/reconciliation/differences/{id}/accept',
    operationId: 'acceptDifference',
    summary: 'Accept a known difference between chain and database for as long as it lasts',
    thing: 'difference',
    action: 'difference.accepted',
    status: 'accepted',
    write: acceptDifference,
  });
}

export function reviewedRoutes(ctx: ApiContext): PersonRoute[] {
  return [alarmRoute(ctx), differenceRoute(ctx)];
}
