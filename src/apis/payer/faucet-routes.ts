import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { payerRoute } from '#apis/payer/payer-route.ts';
import { FaucetBody } from '#apis/payer/payer-schema.ts';
import { answerWhenDone, requestResponse } from '#apis/payer/wait-for-chain-result.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { askFaucet, DEFAULT_FAUCET_ATOMS, MAX_FAUCET_ATOMS } from '#payers/create-approval.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { CIRCLE_FAUCET, hasFaucet } from '#settlement/chain/faucet.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';

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

export function faucetRoute(ctx: ApiContext) {
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
