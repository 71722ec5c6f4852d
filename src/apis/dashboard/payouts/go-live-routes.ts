import Type from 'typebox';
import { type ModeRow, selectMode } from '#accounts/account-queries.ts';
import {
  ConsentBody,
  ConsentSchema,
  GoLiveSchema,
} from '#apis/dashboard/account/account-schema.ts';
import { orUnavailable } from '#apis/dashboard/payouts/refuse-if-chain-unavailable.ts';
import { walletDeployer } from '#apis/dashboard/payouts/wallet-deployer.ts';
import { actorOf, MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { requireTrustedFactor } from '#apis/dashboard/sessions/confirm-identity.ts';
import type { Actor } from '#audit/audit.ts';
import { answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import { text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { confirmGoLive, goLive, prepareGoLive } from '#payouts/go-live.ts';
import { goLiveConsent } from '#payouts/go-live-consent.ts';
import { goLiveInTest } from '#payouts/go-live-in-test.ts';
import {
  type GoLiveRow,
  type PreparationRow,
  selectGoLive,
  selectPreparation,
} from '#payouts/go-live-queries.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { contractVersionOf, currentContractVersion } from '#settlement/contract-versions.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { countTerminals } from '#terminals/provisioning-queries.ts';

const TAG = 'Go live';

interface NewTill {
  readonly tenant: Tenant;
  readonly actor: Actor;
  readonly now: Date;
}

function requestView(row: GoLiveRow) {
  const { status, wallet, failure_reason, tx_hash, created } = row;
  return { status, wallet, failure_reason, tx_hash, created };
}

function preparedView(row: PreparationRow) {
  const { wallet, prepared_by, created } = row;
  const expires_at = new Date(row.deadline * 1000).toISOString();
  return { wallet, prepared_by, expires_at, created };
}

/**
 * Returns the address of the newer contract that a live account can move to; `null` if it is not
 * live, or already uses the current contract.
 */
function nextContract(chains: readonly Chain[], mode: ModeRow | undefined): string | null {
  const config = chains.find((chain) => chain.config.livemode === mode?.livemode)?.config;
  const number = mode?.merchant_number ?? null;
  if (config === undefined || number === null) return null;
  return contractVersionOf(number) < currentContractVersion(config) ? config.settlement : null;
}

async function goLiveView({ db, chains }: ApiContext, tenant: Tenant, now: Date): Promise<object> {
  const [mode, request, prepared] = await Promise.all([
    selectMode(db, tenant),
    selectGoLive(db, tenant),
    selectPreparation(db, { tenant, now }),
  ]);
  return {
    live: mode?.live_at != null,
    settlement_wallet: mode?.settlement_wallet ?? null,
    next_contract: nextContract(chains, mode),
    request: request === undefined ? null : requestView(request),
    prepared: prepared === undefined ? null : preparedView(prepared),
  };
}

function readRoute(ctx: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/go_live`,
    operationId: 'readGoLive',
    moves: 'nothing',
    tag: TAG,
    summary: 'Check whether the account is live on this network',
    access: 'viewer',
    response: GoLiveSchema,
    handle: async ({ caller, now }) => answerWith(200, await goLiveView(ctx, caller.tenant, now)),
  });
}

const ConsentQuery = Type.Object({
  wallet: text(42, 'The EVM address that receives the money.', 42),
});

function consentRoute(ctx: ApiContext) {
  return personRoute<typeof ConsentQuery>({
    method: 'GET',
    path: `${MODE}/go_live/consent`,
    operationId: 'readGoLiveConsent',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the message that the settlement wallet signs (EIP-712)',
    access: 'admin',
    query: ConsentQuery,
    response: ConsentSchema,
    handle: async ({ caller, query, now }) => {
      const consent = goLiveConsent(ctx.chains, { tenant: caller.tenant, ...query, now });
      if (isRefusal(consent)) return consent;
      return answerWith(200, { deadline: consent.deadline, typed_data: consent.typedData });
    },
  });
}

/** The errors of routes that register a wallet and may have to deploy it first. */
const CONSENT_ERRORS = [
  'kyb_required',
  'unexpected_state',
  'wallet_not_deployed',
  'rate_limit_exceeded',
  'service_unavailable',
] as const;

function startRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof ConsentBody>({
    method: 'POST',
    path: `${MODE}/go_live`,
    operationId: 'goLive',
    moves: 'money',
    asks: 'own',
    tag: TAG,
    summary: 'Register on the settlement contract of the network',
    description:
      'An owner must have verified a second factor in the last five minutes. The chain ' +
      'responds within seconds: read GET /go_live until the status is succeeded. A request ' +
      'of an admin is only prepared: an owner must confirm it within the hour. All owners ' +
      'get an email. A wallet that is not on the chain yet (ERC-6492) is deployed when an ' +
      'owner asks, if the operator lists its factory.',
    access: 'admin',
    body: ConsentBody,
    status: 202,
    response: GoLiveSchema,
    errors: CONSENT_ERRORS,
    handle: async (request) => {
      const { caller, body, requestId, now } = request;
      const { tenant, role } = caller;
      const input = { tenant, actor: actorOf(caller, requestId), now, consent: body };
      const stale = role === 'owner' ? requireTrustedFactor(caller, now) : null;
      if (stale !== null) return stale;
      const work =
        role === 'owner'
          ? goLive(ctx, input, walletDeployer(ctx, request))
          : prepareGoLive(ctx, input);
      const result = await orUnavailable<unknown>(work);
      return isRefusal(result) ? result : answerWith(202, await goLiveView(ctx, tenant, now));
    },
  });
}

/** The name of an account's first till, until someone renames it. */
const FIRST_TILL = 'First till';

async function addFirstTill(ctx: ApiContext, input: NewTill): Promise<Refusal | null> {
  const made = await ctx.db.transaction(async (tx) =>
    (await countTerminals(tx, input.tenant)) > 0
      ? null
      : createTerminal(tx, { ...input, label: FIRST_TILL }),
  );
  if (isRefusal(made)) return made;
  if (made !== null) ctx.wakeups.send('deliveries');
  return null;
}

function testRoute(ctx: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/go_live/test_wallet`,
    operationId: 'goLiveInTestMode',
    moves: 'access',
    asks: 'live',
    tag: TAG,
    summary: 'Go live in test mode with a generated wallet',
    description:
      'Creates a wallet whose key is not stored, its consent, and a first terminal if there is ' +
      'none. Live mode has no such route: a real wallet signs there.',
    access: 'admin',
    status: 202,
    response: GoLiveSchema,
    errors: ['unexpected_state', 'service_unavailable'],
    handle: async ({ caller, requestId, now }) => {
      const { tenant } = caller;
      if (tenant.livemode) {
        return refuse(
          'route_missing',
          'Wallets are generated only in test mode. Sign with your own.',
        );
      }
      const input = { tenant, actor: actorOf(caller, requestId), now };
      const row = await orUnavailable(goLiveInTest(ctx, input));
      if (isRefusal(row)) return row;
      const refused = await addFirstTill(ctx, input);
      return refused ?? answerWith(202, await goLiveView(ctx, tenant, now));
    },
  });
}

const ConfirmBody = Type.Object({ wallet: text(42, 'The wallet that was prepared.', 42) });

function confirmRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof ConfirmBody>({
    method: 'POST',
    path: `${MODE}/go_live/confirm`,
    operationId: 'confirmGoLive',
    moves: 'money',
    tag: TAG,
    summary: 'Go live with the wallet that an admin has prepared',
    description: 'Needs a second factor verified in the last five minutes.',
    access: 'owner',
    body: ConfirmBody,
    status: 202,
    response: GoLiveSchema,
    errors: CONSENT_ERRORS,
    handle: async (request) => {
      const { caller, body, requestId, now } = request;
      const { tenant } = caller;
      const input = { tenant, actor: actorOf(caller, requestId), now, ...body };
      const row = await orUnavailable(confirmGoLive(ctx, input, walletDeployer(ctx, request)));
      return isRefusal(row) ? row : answerWith(202, await goLiveView(ctx, tenant, now));
    },
  });
}

export function goLiveRoutes(ctx: ApiContext): PersonRoute[] {
  const before = [readRoute(ctx), consentRoute(ctx)];
  return [...before, startRoute(ctx), testRoute(ctx), confirmRoute(ctx)];
}
