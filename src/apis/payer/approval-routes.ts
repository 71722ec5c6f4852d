import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { ApprovalBody, FaucetBody, WalletSchema } from '#apis/payer/payer-schema.ts';
import { sponsorsNow, transferRoute } from '#apis/payer/transfer-routes.ts';
import { answerWhenDone, requestResponse } from '#apis/payer/wait-for-chain-result.ts';
import { readWallet, renderWallet } from '#apis/payer/wallet-state.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import {
  askFaucet,
  createApproval,
  DEFAULT_FAUCET_ATOMS,
  MAX_FAUCET_ATOMS,
  type TakeApproval,
} from '#payers/create-approval.ts';
import { LEAST_TRANSFER_ATOMS, transfersLeft } from '#payers/create-transfer.ts';
import { type PayerRow, selectHasPaid } from '#payers/payer-queries.ts';
import { renderPayerRequest } from '#payers/render.ts';
import { selectPayerRequests } from '#payers/request-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { deployerFor } from '#payments/deploy-wallet.ts';
import { addressBucket, takeAttempts } from '#people/attempt-limits.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { CIRCLE_FAUCET, hasFaucet } from '#settlement/chain/fees/faucet.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { type GasPolicy, takeGas } from '#settlement/gas-budget.ts';
import { ENROLMENT_GAS } from '#settlement/gas-ceilings.ts';

async function gaslessOf(
  ctx: ApiContext,
  { payer, chain, now }: { readonly payer: PayerRow; readonly chain: Chain; readonly now: Date },
) {
  if (!(await sponsorsNow(ctx, chain))) return null;
  const left = await transfersLeft(ctx.db, { payerId: payer.id, now });
  return { left_today: left, least: LEAST_TRANSFER_ATOMS };
}

function walletRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'GET',
    path: '/approvals',
    operationId: 'retrieveWallet',
    moves: 'nothing',
    summary:
      "Retrieve the wallet's balance and allowances, and the data that its next signatures need",
    responses: { 200: { schema: WalletSchema, description: 'Read from the chain now.' } },
    errors: ['service_unavailable'],
    handle: async ({ caller, now }) => {
      const payer = payerOfCaller(caller);
      const wallet = await readWallet(ctx, payer);
      if (isRefusal(wallet)) return wallet;
      const gasless = await gaslessOf(ctx, { payer, chain: wallet.chain, now });
      return answerWith(200, { ...renderWallet(payer, wallet, now), gasless });
    },
  });
}

/** Approvals per payer and hour: a person changes limits less often. */
const APPROVALS_PER_HOUR = 5;

/** Returns a function that counts an approval, in the transaction that requests it. */
function takeApproval(
  { tenant, address }: PayerCaller,
  payer: PayerRow,
  { approvalsPerAddress, perDay }: GasPolicy,
): TakeApproval {
  const { livemode } = tenant;
  const within = (attempts: number) => ({ attempts, windowMs: HOUR_MS });
  return async (tx, { id: subjectId, now }) =>
    takeAttempts(tx, now, {
      limits: [
        [addressBucket(`approvals ${networkOf(livemode)}`, address), within(approvalsPerAddress)],
        [`approvals ${payer.id}`, within(APPROVALS_PER_HOUR)],
      ],
      message:
        `The operator pays for at most ${APPROVALS_PER_HOUR} approvals an hour of one wallet and ` +
        `${approvalsPerAddress} from one IP address. Try again later.`,
      last: async () => {
        const { hasPaid } = await selectHasPaid(tx, { payerId: payer.id });
        const call = { livemode, kind: 'enrolment', subjectId, wallet: payer.address } as const;
        return takeGas(tx, { ...call, hasPaid, gas: ENROLMENT_GAS, now }, perDay.enrolment);
      },
    });
}

function approveRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof ApprovalBody>({
    method: 'POST',
    path: '/approvals',
    operationId: 'createApproval',
    moves: 'money',
    // Requires no fresh signature, because the body already contains the wallet's signature for
    // this request.
    asks: 'never',
    summary: 'Relay a signed permit and spending policy: the payer needs no gas',
    description:
      `${APPROVALS_PER_HOUR} an hour for each payer, and as many for each IP address as the ` +
      'operator allows. A wallet that is not on the chain yet (ERC-6492) is deployed first, if ' +
      'the operator lists its factory. If that takes long, the answer is 503: send the same ' +
      'request again.',
    body: ApprovalBody,
    responses: { 201: requestResponse },
    errors: [
      'service_unavailable',
      'wallet_not_deployed',
      'rate_limit_exceeded',
      'unexpected_state',
      'resource_missing',
    ],
    handle: async ({ caller, body, now, whenGone }) => {
      const payer = payerOfCaller(caller);
      const wallet = await readWallet(ctx, payer);
      if (isRefusal(wallet)) return wallet;
      const gone = whenGone();
      const id = await createApproval(ctx, {
        payer,
        chain: wallet.chain,
        nonces: { policy: wallet.account.nonce, permit: wallet.permitNonce },
        approval: { permit: body.permit ?? null, policy: body.policy ?? null },
        deploy: deployerFor(ctx, { subject: `payer ${payer.id}`, address: caller.address, gone }),
        take: takeApproval(caller, payer, ctx.settings.gas),
        now,
      });
      return isRefusal(id) ? id : answerWhenDone(ctx, { id, payer, gone });
    },
  });
}

function followRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'GET',
    path: '/approvals/{id}',
    operationId: 'retrieveApproval',
    moves: 'nothing',
    summary: 'Retrieve the result of an approval, a transfer or test funds that were `pending`',
    params: { id: 'text' },
    responses: { 200: requestResponse },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const payer = payerOfCaller(caller);
      const [row] = await selectPayerRequests(ctx.db, [params.id ?? '']);
      if (row === undefined || row.payer_id !== payer.id) return resourceMissing('approval');
      return answerWith(200, renderPayerRequest(row, payer.livemode));
    },
  });
}

/** Refuses if the network uses Circle's own USDC, and names Circle's faucet instead. */
async function checkFaucet(ctx: ApiContext, payer: PayerRow): Promise<Refusal | null> {
  const chain = ctx.chains.find((one) => one.config.livemode === payer.livemode);
  try {
    if (chain === undefined || (await hasFaucet(chain))) return null;
    return refuse(
      'not_configured',
      "This test network uses Circle's USDC, which this service cannot mint. Get test USDC " +
        `for ${payer.address} at ${CIRCLE_FAUCET}, on the chain with the id ` +
        `${chain.config.chainId}.`,
    );
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    return refuse('service_unavailable', 'The chain cannot be reached. Try again.');
  }
}

function faucetRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof FaucetBody>({
    method: 'POST',
    path: '/faucet',
    operationId: 'askFaucet',
    moves: 'money',
    // Requires no fresh signature, because test money goes only to the wallet itself.
    asks: 'never',
    summary: 'Send test USDC to the wallet',
    description:
      `Up to ${MAX_FAUCET_ATOMS} atoms at once. On the test network only, and only with a test ` +
      "token of this network: with Circle's USDC the response is `not_configured` and names its " +
      'faucet.',
    body: FaucetBody,
    bodyExample: {},
    responses: { 201: requestResponse },
    errors: ['route_missing', 'not_configured', 'unexpected_state', 'resource_missing'],
    handle: async ({ caller, body, now, whenGone }) => {
      const payer = payerOfCaller(caller);
      if (payer.livemode) return refuse('route_missing', 'The faucet gives out test USDC only.');
      const elsewhere = await checkFaucet(ctx, payer);
      if (elsewhere !== null) return elsewhere;
      const id = await askFaucet(ctx, { payer, amount: body.amount ?? DEFAULT_FAUCET_ATOMS, now });
      return isRefusal(id) ? id : answerWhenDone(ctx, { id, payer, gone: whenGone() });
    },
  });
}

/** Returns the routes that show and set the amount that the network may charge a wallet. */
export function approvalRoutes(ctx: ApiContext): PayerRoute[] {
  return [
    walletRoute(ctx),
    approveRoute(ctx),
    followRoute(ctx),
    transferRoute(ctx),
    faucetRoute(ctx),
  ];
}
