import { setTimeout as sleep } from 'node:timers/promises';
import { type Refusal, refuse } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { lockName } from '#db/lock-by-name.ts';
import { selectHasPaid, selectPayerByAddress } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { serviceUnavailable } from '#payments/ask-chain-before-locking.ts';
import { SETTLEMENT_WAIT_MS } from '#payments/await-settlement.ts';
import { addressBucket, takeAttempts } from '#people/attempt-limits.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { type DeployFirst, notDeployed } from '#settlement/chain/check/signature-refusals.ts';
import type { Deployment } from '#settlement/chain/check/verify-signature.ts';
import { readCodeSize } from '#settlement/chain/read/code-size.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { type Hex, requestOnChain } from '#settlement/chain-requests.ts';
import { selectDeployment } from '#settlement/deployment-queries.ts';
import { OVER, takeGas } from '#settlement/gas-budget.ts';
import { DEPLOYMENT_GAS } from '#settlement/gas-ceilings.ts';
import { checkSettles, WORKER_GONE_MS } from '#settlement/network-readiness.ts';
import { workersDeploy } from '#settlement/readiness-queries.ts';

/**
 * Deployments per hour, for one IP address and for one link, payer or account. A customer who tries
 * again needs no more.
 */
const DEPLOYMENTS_PER_HOUR = 3;
/** Time between checks for the wallet's code. A deployment is in a block after about a second. */
const POLL_MS = 200;
/** Maximum lag of the queried node behind the node that reported the deployment. */
const LAG_MS = 2_000;

export interface DeployedFor {
  /** The link, payer or account whose deployments per hour are limited. */
  readonly subject: `${'link' | 'payer' | 'account'} ${string}`;
  /** The IP address of the caller. */
  readonly address: string;
  readonly gone?: AbortSignal;
}

/** An undeployed wallet that has signed, and its deployment through a listed factory. */
export interface Undeployed<Why> extends DeployedFor {
  readonly chain: Chain;
  readonly wallet: Hex;
  readonly deployment: Deployment;
  /**
   * Simulates the deployment together with the request. Returns the reason why the request would
   * fail; `null` if it would succeed.
   */
  readonly whyUnable: () => Promise<Why | null>;
  /** The sale that the wallet pays, and what it brings in, in atoms. */
  readonly sale?: { readonly intentId: string; readonly fees: bigint };
}

/** Returns a function with which use cases in other folders can deploy a wallet for a request. */
export function deployerFor(ctx: ApiContext, by: DeployedFor): DeployFirst {
  return (input) => deployWallet(ctx, { ...input, ...by });
}

/**
 * Deploys a wallet that has signed (ERC-6492), in a transaction before the signed operation. The
 * operator pays the gas, so the deployment and the operation are simulated together first. A
 * repeated request finds the pending job or the deployed wallet. @returns `null` once the wallet
 * has code.
 */
export async function deployWallet<Why>(
  ctx: ApiContext,
  input: Undeployed<Why>,
): Promise<Why | Refusal | null> {
  const { livemode } = input.chain.config;
  const unsettled = checkSettles(ctx.readiness, livemode);
  if (unsettled !== null) return unsettled;
  if (!(await workersDeploy(ctx.db, { livemode, goneMs: WORKER_GONE_MS }))) {
    return notDeployed('and this network does not deploy wallets', null);
  }
  const unable = await input.whyUnable();
  if (unable !== null) return unable;
  const now = ctx.clock.now();
  const coveredBy = await coveringSale(input);
  const counted = { ...input, ...(coveredBy === null ? {} : { coveredBy }) };
  const limited = await ctx.db.transaction((tx) => queueOnce(tx, ctx.settings, counted, now));
  if (limited !== null) return limited;
  ctx.wakeups.send('chain-requests', networkOf(livemode));
  return awaitCode(ctx, input);
}

type Wanted = Omit<Undeployed<unknown>, 'whyUnable'> & { readonly coveredBy?: string };

/** USDC has 6 decimals, and a coin that is priced in dollars 18. */
const WEI_PER_ATOM = 10n ** 12n;

/**
 * Returns the sale whose fees cover the deployment at its ceiling; `null` if they do not, or if the
 * price of the chain's coin is unknown.
 */
async function coveringSale({ chain, sale }: Wanted): Promise<string | null> {
  if (sale === undefined || chain.config.profile.coin.priceUnit !== 'USD') return null;
  const accepts = (result: unknown) => /^0x[0-9a-f]{1,30}$/.test(String(result));
  const [price] = await chain.rpc.batch([{ method: 'eth_gasPrice', params: [], accepts }]);
  if (price?.ok !== true) return null;
  const cost = (DEPLOYMENT_GAS * BigInt(price.result as Hex)) / WEI_PER_ATOM;
  return cost < sale.fees ? sale.intentId : null;
}

/**
 * Returns the subject of the settlement job, which is the same for every request of this wallet.
 */
function subjectOf({ chain, wallet }: Wanted): string {
  return `${networkOf(chain.config.livemode)}:${wallet.toLowerCase()}`;
}

/** Counts the deployment toward its limits and requests it, unless it is already in progress. */
async function queueOnce(
  tx: Tx,
  { gas }: ApiContext['settings'],
  input: Wanted,
  now: Date,
): Promise<Refusal | null> {
  const { chain, wallet, deployment } = input;
  const { livemode } = chain.config;
  const subjectId = subjectOf(input);
  await lockName(tx, `wallet deployment ${subjectId}`);
  if ((await selectDeployment(tx, subjectId, now)) !== null) return null;
  const payer = await selectPayerByAddress(tx, { livemode, address: wallet });
  if (payer !== undefined && payer.blocked_at !== null) {
    return refuse(
      'wallet_not_deployed',
      'This network does not deploy this wallet. Use another wallet.',
    );
  }
  const perDay = gas.perDay.wallet_deployment;
  const limited = await countDeployment(tx, perDay, { ...input, payerId: payer?.id, now });
  if (limited !== null) return limited;
  const { factory, data } = deployment;
  const payload = { wallet, factory, data };
  await requestOnChain(tx, { livemode, kind: 'wallet_deployment', subjectId, payload, now });
  return null;
}

/** Counts a deployment toward its limits. If one refuses it, it counts toward none of them. */
async function countDeployment(
  tx: Tx,
  perDay: number,
  input: Wanted & { readonly payerId: string | undefined; readonly now: Date },
): Promise<Refusal | null> {
  const { chain, wallet, subject, address, payerId, coveredBy, now } = input;
  const { livemode } = chain.config;
  const hourly = { attempts: DEPLOYMENTS_PER_HOUR, windowMs: HOUR_MS };
  const { hasPaid } = payerId === undefined ? NEVER_PAID : await selectHasPaid(tx, { payerId });
  return takeAttempts(tx, now, {
    limits: [
      [addressBucket(`wallet deployments ${networkOf(livemode)}`, address), hourly],
      [`wallet deployments ${subject}`, hourly],
    ],
    message: OVER.wallet_deployment,
    last: () =>
      takeGas(
        tx,
        {
          ...{ livemode, kind: 'wallet_deployment', subjectId: subjectOf(input), wallet, hasPaid },
          ...{ gas: DEPLOYMENT_GAS, now, ...(coveredBy === undefined ? {} : { coveredBy }) },
        },
        perDay,
      ),
  });
}

const NEVER_PAID = { hasPaid: false };

/**
 * Waits until the wallet has code. If that takes too long, refuses, and the caller repeats the
 * request.
 */
async function awaitCode(ctx: ApiContext, input: Wanted): Promise<Refusal | null> {
  const { chain, wallet, gone } = input;
  const began = performance.now();
  const waitMs = (ctx.settings.settlementWaitMs ?? SETTLEMENT_WAIT_MS) / 2;
  const subjectId = subjectOf(input);
  let minedAt: number | null = null;
  for (;;) {
    // Reads the status before the code: a job that was mined between the two reads must not look
    // like a deployment without code.
    const status = await selectDeployment(ctx.db, subjectId, ctx.clock.now());
    const size = await codeSizeOf(chain, wallet);
    if (size === null) return serviceUnavailable();
    if (size > 0n) return null;
    const now = performance.now();
    if (status === 'succeeded') minedAt ??= now;
    const isMissing = minedAt !== null && now - minedAt > LAG_MS;
    if (status === null || status === 'late' || isMissing) return deploymentFailed();
    if (now - began > waitMs || gone?.aborted === true) return stillWaiting(status);
    await sleep(POLL_MS);
  }
}

function deploymentFailed(): Refusal {
  return refuse(
    'wallet_not_deployed',
    'The wallet could not be deployed. Send any transaction from it to deploy it, or use ' +
      'another wallet. Nothing was charged.',
  );
}

function stillWaiting(status: 'queued' | 'submitted' | 'succeeded'): Refusal {
  const state =
    status === 'queued'
      ? 'The deployment of this wallet has not been sent yet'
      : 'This wallet is still being deployed';
  return refuse(
    'service_unavailable',
    `${state}. Nothing was charged. Send the same signature again, or use another wallet.`,
  );
}

async function codeSizeOf(chain: Chain, address: Hex): Promise<bigint | null> {
  try {
    return await readCodeSize(chain.rpc, address, { urgent: true });
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}
