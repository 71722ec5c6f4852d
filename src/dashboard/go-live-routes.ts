import Type from 'typebox';
import { selectMode } from '#accounts/account-queries.ts';
import { goLive, goLiveConsent } from '#accounts/go-live.ts';
import { type GoLiveRow, selectGoLive } from '#accounts/go-live-queries.ts';
import { answerWith } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import { isRefusal } from '#core/refusal.ts';
import { ConsentBody, ConsentSchema, GoLiveSchema } from '#dashboard/account-schema.ts';
import { actorOf, type PersonCaller } from '#dashboard/caller.ts';
import { type DashboardDeps, MODE } from '#dashboard/dashboard-deps.ts';
import { personRoute } from '#dashboard/person-route.ts';
import type { Database } from '#db/database.ts';
import type { AnyRoute } from '#http/route.ts';
import { text } from '#http/schema.ts';

const TAG = 'Go live';

function requestView(row: GoLiveRow) {
  const { status, wallet, failure_reason, tx_hash, created } = row;
  return { status, wallet, failure_reason, tx_hash, created };
}

async function goLiveView(db: Database, tenant: Tenant): Promise<object> {
  const [mode, request] = await Promise.all([selectMode(db, tenant), selectGoLive(db, tenant)]);
  return {
    live: mode?.live_at != null,
    settlement_wallet: mode?.settlement_wallet ?? null,
    request: request === undefined ? null : requestView(request),
  };
}

function readRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/go_live`,
    operationId: 'readGoLive',
    tag: TAG,
    summary: 'Whether the account is live on this network',
    access: 'viewer',
    response: GoLiveSchema,
    handle: async ({ caller }) => answerWith(200, await goLiveView(db, caller.tenant)),
  });
}

const ConsentQuery = Type.Object({ wallet: text(42, 'The EVM address that gets the money.', 42) });

function consentRoute(deps: DashboardDeps) {
  return personRoute<typeof ConsentQuery>({
    method: 'GET',
    path: `${MODE}/go_live/consent`,
    operationId: 'readGoLiveConsent',
    tag: TAG,
    summary: 'The message that the settlement wallet signs (EIP-712)',
    access: 'admin',
    query: ConsentQuery,
    response: ConsentSchema,
    handle: async ({ caller, query, now }) => {
      const consent = goLiveConsent(deps, { tenant: caller.tenant, ...query, now });
      if (isRefusal(consent)) return consent;
      return answerWith(200, { deadline: consent.deadline, typed_data: consent.typedData });
    },
  });
}

function startRoute(deps: DashboardDeps) {
  return personRoute<undefined, typeof ConsentBody>({
    method: 'POST',
    path: `${MODE}/go_live`,
    operationId: 'goLive',
    tag: TAG,
    summary: 'Register on the settlement contract of the network',
    description: 'The chain answers within seconds: read GET /go_live until it is succeeded.',
    access: 'admin',
    body: ConsentBody,
    status: 202,
    response: GoLiveSchema,
    errors: ['kyb_required', 'unexpected_state', 'service_unavailable'],
    handle: async ({ caller, body, requestId, now }) => {
      const { tenant } = caller;
      const actor = actorOf(caller, requestId);
      const row = await goLive(deps, { tenant, actor, now, consent: body });
      return isRefusal(row) ? row : answerWith(202, await goLiveView(deps.db, tenant));
    },
  });
}

export function goLiveRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return [readRoute(deps), consentRoute(deps), startRoute(deps)];
}
