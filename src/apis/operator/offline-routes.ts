import Type from 'typebox';
import { actorOf, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { Reason } from '#apis/operator/path-account.ts';
import { type Actor, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { NETWORKS, networkOf } from '#core/mode.ts';
import { MAX_AMOUNT, toJsonAtoms } from '#core/money.ts';
import type { Tx } from '#db/database.ts';
import { nullable, oneOf } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { replaceOfflineRule, selectOfflineRule } from '#terminals/offline-limit-queries.ts';
import type { OfflineRule } from '#terminals/offline-limits.ts';

const TAG = 'Network';
const PATH = '/networks/{network}/offline';

const fields = {
  allowed: Type.Boolean({ description: 'False: no till of this network sells offline.' }),
  per_payment: nullable(
    Type.Integer({
      minimum: 1,
      maximum: MAX_AMOUNT,
      description: 'The highest sum of one offline sale, in USDC atoms; `null` for no cap.',
    }),
  ),
};

const RuleSchema = Type.Object(
  { network: oneOf(NETWORKS, 'The network.'), ...fields },
  { description: 'The operator’s rule for sales that tills accept offline.' },
);

const RuleBody = Type.Object({
  ...fields,
  reason: { ...Reason, description: 'Written to the audit log.' },
});

export function livemodeOf(network: string | undefined): boolean | Refusal {
  const mode = [false, true].find((livemode) => networkOf(livemode) === network);
  return mode ?? resourceMissing('network', 'network');
}

function shown({ allowed, per_payment: cap }: OfflineRule) {
  return { allowed, per_payment: cap === null ? null : toJsonAtoms(cap) };
}

function ruleView(livemode: boolean, rule: OfflineRule) {
  return { network: networkOf(livemode), ...shown(rule) };
}

/** The merchants' own limits stay stored and apply again once the rule is lifted. */
async function setOfflineRule(
  tx: Tx,
  ref: { readonly livemode: boolean; readonly actor: Actor; readonly now: Date },
  change: OfflineRule & { readonly reason: string },
): Promise<void> {
  const { livemode, actor, now } = ref;
  const { reason, ...rule } = change;
  const before = await replaceOfflineRule(tx, livemode, rule);
  await recordEntry(tx, {
    auditLog: NETWORK_AUDIT_LOG,
    actor,
    action: 'network.offline_changed',
    objectId: networkOf(livemode),
    livemode,
    before: shown(before),
    after: { ...shown(rule), reason },
    now,
  });
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'readOfflineRule',
    moves: 'nothing',
    tag: TAG,
    summary: 'Check whether tills of a network may sell offline',
    access: 'operator',
    params: { network: 'text' },
    response: RuleSchema,
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const livemode = livemodeOf(params.network);
      if (isRefusal(livemode)) return livemode;
      return answerWith(200, ruleView(livemode, await selectOfflineRule(db, livemode)));
    },
  });
}

function replaceRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof RuleBody>({
    method: 'PUT',
    path: PATH,
    operationId: 'replaceOfflineRule',
    moves: 'money',
    // One operator can do it alone, because the rule can only narrow the merchants' own limits.
    alone: true,
    tag: TAG,
    summary: 'Allow, cap or forbid sales that tills accept offline',
    description:
      'Forbidden: every terminal’s `offline` reads null at the till, and forwarding is ' +
      'refused. A cap: tills see the smaller `per_payment`. The merchants’ own settings stay.',
    access: 'operator',
    params: { network: 'text' },
    body: RuleBody,
    response: RuleSchema,
    errors: ['resource_missing'],
    handle: async ({ caller, params, body, requestId, now }) => {
      const livemode = livemodeOf(params.network);
      if (isRefusal(livemode)) return livemode;
      const { allowed, per_payment: cap, reason } = body;
      const rule = { allowed, per_payment: cap === null ? null : BigInt(cap) };
      const ref = { livemode, actor: actorOf(caller, requestId), now };
      await db.transaction((tx) => setOfflineRule(tx, ref, { ...rule, reason }));
      return answerWith(200, ruleView(livemode, rule));
    },
  });
}

export function offlineRuleRoutes(ctx: ApiContext): PersonRoute[] {
  return [readRoute(ctx), replaceRoute(ctx)];
}
