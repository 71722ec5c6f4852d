import { actorOf, type PersonRequest, type PersonRoute } from '#apis/dashboard/person-route.ts';
import { consentOf } from '#apis/dashboard/sessions/require-second-factor.ts';
import { mailAccountChange } from '#apis/dashboard/team/mail-owners-of-changes.ts';
import { type EntryListener, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { type Answer, isRefusal, type Refusal } from '#core/answer.ts';
import { changedFields, MAILED_CLASSES, type SettingClasses } from '#core/setting-classes.ts';
import type { Tx } from '#db/database.ts';
import type { Stream } from '#http/route.ts';
import { giveBackAttempt, STAFF_CHANGES, takeAttempt } from '#people/attempt-limits.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { settingChanges } from '#people/setting-mails.ts';

type Request = PersonRequest<never, never>;

/**
 * Returns a listener that mails the owners once, in the transaction of the first audit log entry,
 * even if the change has several entries; `null` if no real money is at stake.
 */
function ownersHear(
  people: PeopleDeps,
  route: PersonRoute,
  request: Request,
): EntryListener | null {
  const { session, tenant, isRealMoney } = request.caller;
  if (session === null || !isRealMoney) return null;
  const told = new WeakSet<Tx>();
  return async (tx, { detail = null }) => {
    if (told.has(tx)) return;
    told.add(tx);
    const { summary } = route;
    await mailAccountChange(tx, people, { session, tenant, summary, detail, now: request.now });
  };
}

/** Returns a listener that saves the changed settings for the owners' mail. */
function settingsHeard(settings: SettingClasses, { caller }: Request): EntryListener | null {
  const { session, isRealMoney } = caller;
  if (session === null || !isRealMoney) return null;
  return async (tx, { auditLog, objectId, before, after, now }) => {
    const changed = changedFields(before, after);
    for (const kind of MAILED_CLASSES) {
      const fields = changed.filter((field) => settings[field] === kind);
      if (fields.length === 0) continue;
      const what = { account_id: auditLog, object_id: objectId, kind, fields };
      await settingChanges.insert(tx, { ...what, user_id: session.user_id, created: now });
    }
  };
}

function listenerOf(people: PeopleDeps, route: PersonRoute, request: Request) {
  if (consentOf(route).mails) return ownersHear(people, route, request);
  return route.settings === undefined ? null : settingsHeard(route.settings, request);
}

/** Awaited before the response is sent, so that no read stays unlogged. */
function recordReading(people: PeopleDeps, request: Request, action: string): Promise<void> {
  const { caller, params, query, requestId, now } = request;
  const { account } = params;
  const { text } = (query ?? {}) as { readonly text?: string };
  return people.db.transaction((tx) =>
    recordEntry(tx, {
      auditLog: NETWORK_AUDIT_LOG,
      actor: actorOf(caller, requestId),
      action,
      objectId: params.id ?? account ?? NETWORK_AUDIT_LOG,
      livemode: null,
      before: null,
      after: {
        ...(account === undefined ? {} : { account }),
        ...(text === undefined ? {} : { text }),
      },
      now,
    }),
  );
}

function isDone(answer: Answer | Refusal | Stream): boolean {
  return !isRefusal(answer) && answer.status < 300;
}

/** Wraps a route's handler with the consent rules that its declaration implies. */
export function consenting(people: PeopleDeps, route: PersonRoute): PersonRoute {
  const { mails, rate } = consentOf(route);
  const { records, settings } = route;
  const isPlain = !mails && records === undefined && settings === undefined;
  if (isPlain && rate === 'usual') return route;
  const work = async (request: Request) => {
    const onEntry = listenerOf(people, route, request);
    const answer = await route.handle({ ...request, caller: { ...request.caller, onEntry } });
    if (records !== undefined && isDone(answer)) await recordReading(people, request, records);
    return answer;
  };
  if (rate === 'usual') return { ...route, handle: work };
  const counted = async (request: Request) => {
    const bucket = `staff changes ${request.caller.session?.user_id}`;
    const input = { allowance: STAFF_CHANGES, now: request.now };
    const tooMany = await takeAttempt(people.db, bucket, input);
    if (tooMany !== null) return tooMany;
    const answer = await work(request);
    if (!isDone(answer)) await giveBackAttempt(people.db, bucket);
    return answer;
  };
  return { ...route, handle: counted };
}
