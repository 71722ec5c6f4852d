import { setTimeout as sleep } from 'node:timers/promises';
import { type Refusal, refuse } from '#core/answer.ts';
import { DAY_MS, HOUR_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { createPayer } from '#payers/create-payer.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { SETTLEMENT_WAIT_MS } from '#payments/await-settlement.ts';
import { serviceUnavailable } from '#payments/check-on-chain.ts';
import type { Decline } from '#payments/decline.ts';
import type { PayLink } from '#payments/pay-link.ts';
import {
  type VerifiedAuthorization,
  whyUnable,
  withRemedy,
} from '#payments/verify-authorization.ts';
import { addressBucket, takeAttempt } from '#people/attempts.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { readCodeSize } from '#settlement/chain/code-size.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { DEPLOYMENT_GAS, type Deployment } from '#settlement/chain/verify-signature.ts';
import { selectDeployment } from '#settlement/deployment-queries.ts';
import { checkSettles, WORKER_GONE_MS } from '#settlement/readiness.ts';
import { workersDeploy } from '#settlement/readiness-queries.ts';
import { type Hex, requestOnChain } from '#settlement/requests.ts';

/** Enough for a customer who tries again; a link or address that needs more is not a customer. */
const DEPLOYMENTS_PER_HOUR = 3;
/** A deployment is in a block after about a second. */
const POLL_MS = 200;
/** How far this node may lag behind the one that reported the deployment as mined. */
const LAG_MS = 2_000;

export interface Undeployed {
  readonly from: Hex;
  /** The terms that the wallet has signed, and its deployment by a listed factory. */
  readonly verified: VerifiedAuthorization & { readonly deployment: Deployment };
  /** The IP address of the caller. */
  readonly address: string;
  readonly gone?: AbortSignal;
}

/**
 * Deploys the wallet of a payer who has signed for it (ERC-6492), in a transaction of its own
 * before the payment. The operator pays, so deployment and payment are simulated together first. A
 * repeated request finds the pending job, or the deployed wallet.
 * @returns `null` once the wallet can be asked.
 */
export async function deployWallet(
  ctx: ApiContext,
  link: PayLink,
  wanted: Undeployed,
): Promise<{ readonly decline: Decline } | Refusal | null> {
  const { from, verified, address } = wanted;
  const { livemode } = link.intent.tenant;
  const unsettled = checkSettles(ctx.readiness, livemode);
  if (unsettled !== null) return unsettled;
  if (!(await workersDeploy(ctx.db, { livemode, goneMs: WORKER_GONE_MS }))) {
    return refuse('wallet_not_deployed', withRemedy('this network deploys no wallets'), 'from');
  }
  const unable = await whyUnable(ctx.outside.preflight, link, { ...verified, from });
  if (unable !== null) return unable;
  const now = ctx.clock.now();
  const limited = await ctx.db.transaction((tx) =>
    queueOnce(tx, ctx.settings, { link, from, deployment: verified.deployment, address, now }),
  );
  if (limited !== null) return limited;
  ctx.wakeups.send('chain-requests', networkOf(livemode));
  return awaitCode(ctx, link, wanted);
}

interface Wanted extends Pick<Undeployed, 'from'> {
  readonly link: PayLink;
  readonly deployment: Deployment;
  readonly address: string;
  readonly now: Date;
}

/** Counts and requests the deployment, unless it is already in progress. Locks the payer. */
async function queueOnce(
  tx: Tx,
  { walletDeploymentGas }: ApiContext['settings'],
  { link, from, deployment, address, now }: Wanted,
): Promise<Refusal | null> {
  const { livemode } = link.intent.tenant;
  const network = networkOf(livemode);
  const subjectId = `${network}:${from.toLowerCase()}`;
  const payer = await createPayer(tx, { livemode, address: from, now });
  if (payer.blocked_at !== null) {
    return refuse('wallet_not_deployed', 'This network does not deploy this wallet.', 'from');
  }
  await lockPayer(tx, payer.id);
  if ((await selectDeployment(tx, subjectId)) !== null) return null;
  const hourly = { allowance: { attempts: DEPLOYMENTS_PER_HOUR, windowMs: HOUR_MS }, now };
  // The address counts first: a caller over its limit must not use up a link's limit for others.
  for (const bucket of [
    addressBucket(`wallet deployments ${network}`, address),
    `wallet deployments link ${link.intent.id}`,
  ]) {
    const tooMany = await takeAttempt(tx, bucket, hourly);
    if (tooMany !== null) return { ...tooMany, message: limitMessage };
  }
  const attempts = Math.floor(walletDeploymentGas / Number(DEPLOYMENT_GAS));
  const daily = { allowance: { attempts, windowMs: DAY_MS }, now };
  const ofAll = await takeAttempt(tx, `wallet deployments ${network} in all`, daily);
  if (ofAll !== null) {
    const details = { gas_per_day: walletDeploymentGas };
    const alarm = { kind: 'wallet_deployment_limit', subject: network, details };
    await insertAlarms(tx, livemode, [alarm], now);
    return { ...ofAll, message: limitMessage };
  }
  const { factory, data } = deployment;
  const payload = { wallet: from, factory, data };
  await requestOnChain(tx, { livemode, kind: 'wallet_deployment', subjectId, payload, now });
  return null;
}

const limitMessage =
  'The operator deploys no more wallets for now. Send something from the wallet first, which ' +
  'deploys it, or pay with another wallet. Nothing was charged.';

/** Waits until the wallet has code; the caller repeats the request if that takes longer. */
async function awaitCode(
  ctx: ApiContext,
  { chain, intent }: PayLink,
  { from, gone }: Undeployed,
): Promise<Refusal | null> {
  const began = performance.now();
  const waitMs = (ctx.settings.settlementWaitMs ?? SETTLEMENT_WAIT_MS) / 2;
  const subjectId = `${networkOf(intent.tenant.livemode)}:${from.toLowerCase()}`;
  let minedAt: number | null = null;
  for (;;) {
    // Read before the code, so that a job without code is not one that was mined in between.
    const status = await selectDeployment(ctx.db, subjectId);
    const size = await codeSizeOf(chain, from);
    if (size === null) return serviceUnavailable();
    if (size > 0n) return null;
    const now = performance.now();
    if (status === 'succeeded') minedAt ??= now;
    const isMissing = minedAt !== null && now - minedAt > LAG_MS;
    if (status === null || isMissing) return notDeployed();
    if (now - began > waitMs || gone?.aborted === true) return stillWaiting(status);
    await sleep(POLL_MS);
  }
}

function notDeployed(): Refusal {
  return refuse(
    'wallet_not_deployed',
    'The wallet could not be deployed. Send something from it first, which deploys it, or pay ' +
      'with another wallet. Nothing was charged.',
    'from',
  );
}

function stillWaiting(status: 'queued' | 'submitted' | 'succeeded'): Refusal {
  const state =
    status === 'queued'
      ? 'The deployment of this wallet has not been sent yet'
      : 'This wallet is still being deployed';
  return refuse(
    'service_unavailable',
    `${state}. Nothing was charged. Send the same signature again, or pay with another wallet.`,
  );
}

async function codeSizeOf(chain: PayLink['chain'], address: Hex): Promise<bigint | null> {
  try {
    return await readCodeSize(chain.rpc, address, { urgent: true });
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}
