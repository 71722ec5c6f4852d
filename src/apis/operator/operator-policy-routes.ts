import Type from 'typebox';
import { VersionOut } from '#apis/dashboard/account/account-schema.ts';
import { actorOf, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import { Amount } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import {
  policyDefaultsObject,
  readPolicyDefaults,
  savePolicyDefaults,
} from '#payouts/spending-policy-defaults.ts';

const TAG = 'Spending policy defaults';
const PATH = '/spending_policy_defaults/{mode}';

const fields = {
  per_payment: Amount,
  per_period: Type.Integer({
    minimum: 1,
    maximum: MAX_AMOUNT * 100,
    description: 'Atoms, at least per_payment.',
  }),
  period_seconds: Type.Integer({
    minimum: 3600,
    maximum: 2_592_000,
    description: 'Seconds, an hour to 30 days.',
  }),
  valid_days: Type.Integer({ minimum: 1, maximum: 3650, description: '1 to 3650.' }),
  max_fee_rate: Type.Integer({
    minimum: 0,
    maximum: 300,
    description: 'Basis points of acquirer and protocol fee together, 0 to 300.',
  }),
};

const DefaultsSchema = Type.Object(
  { ...fields, version: VersionOut },
  { description: 'The limits that payers are offered.' },
);
const DefaultsBody = Type.Object({
  ...fields,
  version: Type.Integer({
    minimum: 0,
    description: 'The version that you last read; 0 for the first change.',
  }),
});

function livemodeOf(mode: string | undefined): boolean | Refusal {
  if (mode === 'test' || mode === 'live') return mode === 'live';
  return refuse('route_missing', 'The mode in the path must be test or live.');
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'readPolicyDefaults',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the policy that the payer app proposes to sign',
    access: 'operator',
    response: DefaultsSchema,
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const livemode = livemodeOf(params.mode);
      if (isRefusal(livemode)) return livemode;
      return answerWith(200, policyDefaultsObject(await readPolicyDefaults(db, livemode)));
    },
  });
}

function saveRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof DefaultsBody>({
    method: 'PUT',
    path: PATH,
    operationId: 'savePolicyDefaults',
    moves: 'money',
    // One operator can do it alone, because each payer sees the proposed policy and can decline it.
    alone: true,
    tag: TAG,
    summary: 'Change the policy that the payer app proposes; signed policies stay as they are',
    access: 'operator',
    body: DefaultsBody,
    response: DefaultsSchema,
    errors: ['version_conflict', 'resource_missing'],
    handle: async ({ caller, params, body, requestId, now }) => {
      const livemode = livemodeOf(params.mode);
      if (isRefusal(livemode)) return livemode;
      const { version, ...rest } = body;
      const defaults = {
        ...rest,
        per_payment: BigInt(body.per_payment),
        per_period: BigInt(body.per_period),
      };
      const ref = { livemode, actor: actorOf(caller, requestId), now };
      const saved = await db.transaction((tx) =>
        savePolicyDefaults(tx, ref, { defaults, version }),
      );
      return isRefusal(saved) ? saved : answerWith(200, policyDefaultsObject(saved));
    },
  });
}

export function operatorPolicyRoutes(ctx: ApiContext): PersonRoute[] {
  return [readRoute(ctx), saveRoute(ctx)];
}
