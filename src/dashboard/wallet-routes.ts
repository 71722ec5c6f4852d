import Type from 'typebox';
import { selectMode } from '#accounts/account-queries.ts';
import { cancelWalletChange, changeWallet, walletChangeConsent } from '#accounts/change-wallet.ts';
import { selectWalletChange } from '#accounts/wallet-change-queries.ts';
import { answerWith } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import { isRefusal } from '#core/refusal.ts';
import { ConsentBody, ConsentSchema } from '#dashboard/account-schema.ts';
import { actorOf, type PersonCaller } from '#dashboard/caller.ts';
import { type DashboardDeps, MODE } from '#dashboard/dashboard-deps.ts';
import { requireFreshFactor } from '#dashboard/fresh-factor.ts';
import { orUnavailable } from '#dashboard/or-unavailable.ts';
import { personRoute } from '#dashboard/person-route.ts';
import type { Database } from '#db/database.ts';
import type { AnyRoute, Handled } from '#http/route.ts';
import { nullable, oneOf, Timestamp, text } from '#http/schema.ts';

const TAG = 'Settlement wallet';
const PATH = `${MODE}/settlement_wallet`;

const WalletSchema = Type.Object({
  wallet: nullable(Type.String()),
  change: nullable(
    Type.Object({
      wallet: Type.String(),
      status: oneOf(
        ['pending', 'announced', 'applied', 'canceled', 'failed'] as const,
        'An announced wallet waits until applicable_at.',
      ),
      applicable_at: nullable(Timestamp),
      failure_reason: nullable(Type.String()),
      created: Timestamp,
    }),
  ),
});

async function walletView(db: Database, tenant: Tenant): Promise<object> {
  const [mode, row] = await Promise.all([selectMode(db, tenant), selectWalletChange(db, tenant)]);
  const change =
    row === undefined
      ? null
      : {
          wallet: row.wallet,
          status: row.status,
          applicable_at: row.applicable_at,
          failure_reason: row.failure_reason,
          created: row.created,
        };
  return { wallet: mode?.settlement_wallet ?? null, change };
}

function ref({ caller, requestId, now }: Handled<PersonCaller, unknown, unknown>) {
  return { tenant: caller.tenant, actor: actorOf(caller, requestId), now };
}

function readRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'readSettlementWallet',
    tag: TAG,
    summary: 'Where withdrawals go, and a change that is under way',
    access: 'viewer',
    response: WalletSchema,
    handle: async ({ caller }) => answerWith(200, await walletView(db, caller.tenant)),
  });
}

const ConsentQuery = Type.Object({ wallet: text(42, 'The new EVM address.', 42) });

function consentRoute(deps: DashboardDeps) {
  return personRoute<typeof ConsentQuery>({
    method: 'GET',
    path: `${PATH}/consent`,
    operationId: 'readWalletConsent',
    tag: TAG,
    summary: 'The message that the new wallet signs (EIP-712)',
    access: 'owner',
    query: ConsentQuery,
    response: ConsentSchema,
    errors: ['account_not_live', 'service_unavailable'],
    handle: async ({ caller, query, now }) => {
      const of = { tenant: caller.tenant, ...query, now };
      const consent = await orUnavailable(walletChangeConsent(deps, of));
      if (isRefusal(consent)) return consent;
      return answerWith(200, { deadline: consent.deadline, typed_data: consent.typedData });
    },
  });
}

function changeRoute(deps: DashboardDeps) {
  return personRoute<undefined, typeof ConsentBody>({
    method: 'POST',
    path: PATH,
    operationId: 'changeSettlementWallet',
    tag: TAG,
    summary: 'Announce another settlement wallet',
    description:
      'Needs a second factor proven in the last five minutes. All owners are told by mail; the ' +
      'contract makes the wallet wait, and until then it can be canceled. Refused for 72 hours ' +
      'after a change of owners, and while payouts are held.',
    access: 'owner',
    body: ConsentBody,
    status: 202,
    response: WalletSchema,
    errors: ['account_not_live', 'unexpected_state', 'service_unavailable'],
    handle: async (request) => {
      const { caller, body, now } = request;
      const stale = requireFreshFactor(caller, now);
      if (stale !== null) return stale;
      const { secretKey } = deps.settings.people;
      const row = await orUnavailable(changeWallet({ ...deps, secretKey }, ref(request), body));
      return isRefusal(row) ? row : answerWith(202, await walletView(deps.db, caller.tenant));
    },
  });
}

function cancelRoute(deps: DashboardDeps) {
  return personRoute({
    method: 'DELETE',
    path: PATH,
    operationId: 'cancelWalletChange',
    tag: TAG,
    summary: 'Stop an announced settlement wallet',
    access: 'owner',
    status: 202,
    response: WalletSchema,
    errors: ['account_not_live', 'unexpected_state'],
    handle: async (request) => {
      const row = await cancelWalletChange(deps, ref(request));
      if (isRefusal(row)) return row;
      return answerWith(202, await walletView(deps.db, request.caller.tenant));
    },
  });
}

export function walletRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return [readRoute(deps), consentRoute(deps), changeRoute(deps), cancelRoute(deps)];
}
