import { type Answer, answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/refusal.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { type PayerCaller, payerOfCaller } from '#payer-app/authenticate.ts';
import type { PayerDeps } from '#payer-app/deps.ts';
import { ApprovalBody, FaucetBody, PayerRequestSchema, WalletSchema } from '#payer-app/schema.ts';
import {
  askFaucet,
  createApproval,
  DEFAULT_FAUCET_ATOMS,
  MAX_FAUCET_ATOMS,
} from '#payers/create-approval.ts';
import type { PayerRow } from '#payers/queries.ts';
import { renderPayerRequest } from '#payers/render.ts';
import { selectPayerRequests } from '#payers/request-queries.ts';
import type { Chain } from '#settlement/chain.ts';
import { type PayerAccount, readPayerAccount, readPermitNonce } from '#settlement/payer.ts';
import { RpcUnavailable } from '#settlement/rpc.ts';

const TAG = 'Payer app';
/** Blocks come every second or two; whoever waited in vain reads the request again. */
const CHAIN_WAIT_MS = 20_000;

interface WalletState {
  readonly chain: Chain;
  readonly account: PayerAccount;
  readonly permitNonce: bigint;
}

async function readWallet(deps: PayerDeps, payer: PayerRow): Promise<WalletState | Refusal> {
  const chain = deps.chains.find((one) => one.config.livemode === payer.livemode);
  const away = () => refuse('service_unavailable', 'The chain cannot be reached: try again.');
  if (chain === undefined) return away();
  try {
    const [account, permitNonce] = await Promise.all([
      readPayerAccount(chain, payer.address),
      readPermitNonce(chain, payer.address),
    ]);
    return { chain, account, permitNonce };
  } catch (error) {
    if (error instanceof RpcUnavailable) return away();
    throw error;
  }
}

/** An unlimited allowance is more than a JSON number holds exactly: shown as the largest one. */
function shownAtoms(value: bigint): number {
  const max = BigInt(Number.MAX_SAFE_INTEGER);
  return toJsonAtoms(value > max ? max : value);
}

function renderPolicy({ policy }: PayerAccount) {
  if (policy.status !== 'set') return null;
  return {
    per_payment: toJsonAtoms(policy.perPayment),
    per_period: toJsonAtoms(policy.perPeriod),
    period_seconds: policy.periodSeconds,
    spent: toJsonAtoms(policy.spent),
    expires_at: policy.expiresAt.toISOString(),
    max_fee_rate: policy.maxFeeRate,
  };
}

function renderWallet(payer: PayerRow, { chain, account, permitNonce }: WalletState) {
  const { config } = chain;
  return {
    object: 'wallet',
    livemode: payer.livemode,
    network: networkOf(payer.livemode),
    address: payer.address,
    balance: shownAtoms(account.balance),
    allowance: shownAtoms(account.allowance),
    policy: renderPolicy(account),
    chain_id: config.chainId,
    usdc: config.usdc,
    usdc_domain: config.usdcDomain,
    settlement: config.settlement,
    nonces: { permit: Number(permitNonce), policy: Number(account.nonce) },
  };
}

function walletRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller>({
    method: 'GET',
    path: '/approvals',
    operationId: 'retrieveWallet',
    tag: TAG,
    summary: 'What the wallet holds and allows, and what its next signatures need',
    scope: null,
    idempotency: 'ignored',
    responses: { 200: { schema: WalletSchema, description: 'Read from the chain now.' } },
    errors: ['service_unavailable'],
    handle: async ({ caller }) => {
      const payer = payerOfCaller(caller);
      const wallet = await readWallet(deps, payer);
      return isRefusal(wallet) ? wallet : answerWith(200, renderWallet(payer, wallet));
    },
  });
}

/** The request once the chain has answered, or as it is when that takes too long. */
async function answerWhenDone(
  deps: PayerDeps,
  of: { readonly id: string; readonly payer: PayerRow; readonly gone: AbortSignal },
): Promise<Answer> {
  const request = await deps.requests.wait(of.id, {
    accept: (seen) => seen?.status !== 'pending',
    waitMs: CHAIN_WAIT_MS,
    gone: of.gone,
  });
  const row = present(request, 'payer request');
  return answerWith(201, renderPayerRequest(row, of.payer.livemode));
}

const requestResponse = { schema: PayerRequestSchema, description: 'Done, or `pending`.' };

function approveRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller, undefined, typeof ApprovalBody>({
    method: 'POST',
    path: '/approvals',
    operationId: 'createApproval',
    tag: TAG,
    summary: 'Relay a signed permit and spending policy: the payer needs no gas',
    scope: null,
    // The signatures carry nonces: sent twice they are refused, not done twice.
    idempotency: 'ignored',
    body: ApprovalBody,
    responses: { 201: requestResponse },
    errors: ['service_unavailable', 'unexpected_state'],
    handle: async ({ caller, body, now, whenGone }) => {
      const payer = payerOfCaller(caller);
      const wallet = await readWallet(deps, payer);
      if (isRefusal(wallet)) return wallet;
      const id = await createApproval(deps, {
        payer,
        network: wallet.chain.config,
        nonces: { policy: wallet.account.nonce, permit: wallet.permitNonce },
        approval: { permit: body.permit ?? null, policy: body.policy ?? null },
        now,
      });
      return isRefusal(id) ? id : answerWhenDone(deps, { id, payer, gone: whenGone() });
    },
  });
}

function followRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller>({
    method: 'GET',
    path: '/approvals/{id}',
    operationId: 'retrieveApproval',
    tag: TAG,
    summary: 'What became of an approval, or of test funds, that was `pending`',
    scope: null,
    idempotency: 'ignored',
    params: { id: 'text' },
    responses: { 200: requestResponse },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const payer = payerOfCaller(caller);
      const [row] = await selectPayerRequests(deps.db, [params.id ?? '']);
      if (row === undefined || row.payer_id !== payer.id) return resourceMissing('approval');
      return answerWith(200, renderPayerRequest(row, payer.livemode));
    },
  });
}

function faucetRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller, undefined, typeof FaucetBody>({
    method: 'POST',
    path: '/faucet',
    operationId: 'askFaucet',
    tag: TAG,
    summary: 'Test USDC for the wallet',
    description: `Up to ${MAX_FAUCET_ATOMS} atoms at once. On the test network only.`,
    scope: null,
    idempotency: 'ignored',
    body: FaucetBody,
    bodyExample: {},
    responses: { 201: requestResponse },
    errors: ['route_missing', 'unexpected_state'],
    handle: async ({ caller, body, now, whenGone }) => {
      const payer = payerOfCaller(caller);
      if (payer.livemode) return refuse('route_missing', 'There is no faucet of real money.');
      const id = await askFaucet(deps, { payer, amount: body.amount ?? DEFAULT_FAUCET_ATOMS, now });
      return isRefusal(id) ? id : answerWhenDone(deps, { id, payer, gone: whenGone() });
    },
  });
}

/** What a wallet allows the network to take. */
export function approvalRoutes(deps: PayerDeps): AnyRoute<PayerCaller>[] {
  return [walletRoute(deps), approveRoute(deps), followRoute(deps), faucetRoute(deps)];
}
