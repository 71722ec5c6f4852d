import { setTimeout as sleep } from 'node:timers/promises';
import { hashTypedData } from 'viem';
import { type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { DAY_MS, HOUR_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { createPayer } from '#payers/create-payer.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { SETTLEMENT_WAIT_MS } from '#payments/await-settlement.ts';
import { serviceUnavailable } from '#payments/check-on-chain.ts';
import type { PayLink } from '#payments/pay-link.ts';
import { messageOf } from '#payments/pay-message.ts';
import { askedTerms, NOT_SIGNED, signatureFailed } from '#payments/verify-authorization.ts';
import { addressBucket, takeAttempt } from '#people/attempts.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { pullOf } from '#settlement/chain/authorization-check.ts';
import { refusalOf } from '#settlement/chain/check-signature.ts';
import { readCodeSize } from '#settlement/chain/code-size.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import {
  DEPLOYMENT_GAS,
  type Deployment,
  simulateDeployed,
  verifyUndeployed,
} from '#settlement/chain/verify-signature.ts';
import { selectDeployment } from '#settlement/deployment-queries.ts';
import { type Hex, requestOnChain } from '#settlement/requests.ts';
import { isListedFactory } from '#settlement/wallet-factories.ts';

/** Enough for a customer who tries again; a link or address that needs more is not a customer. */
const DEPLOYMENTS_PER_HOUR = 3;
/** A deployment is in a block after about a second. */
const POLL_MS = 200;

export interface Undeployed {
  readonly from: Hex;
  readonly deployment: Deployment;
  /** The IP address of the caller; `null` where no wallet is deployed, as at tills. */
  readonly address: string | null;
  readonly now: Date;
  readonly gone?: AbortSignal;
}

/**
 * Deploys the wallet of a payer who has signed for it (ERC-6492), in a transaction of its own
 * before the payment. The operator pays, so factory, signature and payment are checked and
 * simulated first. A repeated request finds the job under way, or the deployed wallet.
 * @returns `null` once the wallet can be asked.
 */
export async function deployWallet(
  ctx: ApiContext,
  link: PayLink,
  wanted: Undeployed,
): Promise<Refusal | null> {
  const { chain } = link;
  const { factory } = wanted.deployment;
  if (!isListedFactory(chain.config, factory) || wanted.address === null)
    return notDeployed(link, factory);
  const refused = await whyNotPaid(ctx, link, wanted);
  if (refused !== null) return refused;
  const limited = await ctx.db.transaction((tx) => queueOnce(tx, ctx, { link, wanted }));
  if (limited !== null) return limited;
  ctx.wakeups.send('chain-requests', networkOf(chain.config.livemode));
  return awaitCode(ctx, link, wanted);
}

function notDeployed({ chain }: PayLink, factory: Hex): Refusal {
  const why =
    chain.config.walletFactories.length === 0
      ? 'this network deploys no wallets'
      : `its factory ${factory} is not one that this network deploys wallets with`;
  return refuse(
    'wallet_not_deployed',
    `This wallet is a contract that is not on the chain yet, and ${why}. Send something from it ` +
      'first, which deploys it, or pay with another wallet. Nothing was charged.',
    'from',
  );
}

/** Simulates deployment and payment together. */
async function whyNotPaid(
  ctx: ApiContext,
  link: PayLink,
  { from, deployment }: Undeployed,
): Promise<Refusal | null> {
  const { chain, intent } = link;
  const newestFirst = askedTerms(link, from);
  const digests = newestFirst.map((terms) => hashTypedData(messageOf(link, terms, from)));
  const { signature } = deployment;
  const verdict = await verifyUndeployed(chain, { signer: from, digests, signature, deployment });
  if (verdict.status === 'invalid') return signatureFailed(ctx.db, intent.id);
  if (verdict.status !== 'valid') return refusalOf(verdict, NOT_SIGNED);
  const terms = present(newestFirst[verdict.index], 'terms of a signature');
  const { message } = messageOf(link, terms, from);
  const settling = pullOf(chain, { ...message, signature });
  const simulated = await simulateDeployed(chain, deployment, settling);
  if (simulated === 'succeeds') return null;
  if (simulated === 'unavailable') return serviceUnavailable();
  return refuse(
    'wallet_not_deployed',
    'This wallet is a contract that is not on the chain yet, and could not pay if it were: its ' +
      'USDC does not suffice, or the token refuses its signature. Nothing was charged.',
    'from',
  );
}

/** Counts and requests the deployment, unless it is under way already. Locks the payer. */
async function queueOnce(
  tx: Tx,
  { settings }: ApiContext,
  { link, wanted }: { readonly link: PayLink; readonly wanted: Undeployed },
): Promise<Refusal | null> {
  const { from, deployment, now } = wanted;
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
  const address = present(wanted.address, 'address of a caller');
  for (const bucket of [
    `wallet deployments link ${link.intent.id}`,
    addressBucket(`wallet deployments ${network}`, address),
  ]) {
    const tooMany = await takeAttempt(tx, bucket, hourly);
    if (tooMany !== null) return { ...tooMany, message: limitMessage };
  }
  const attempts = Math.floor(settings.walletDeploymentGas / Number(DEPLOYMENT_GAS));
  const daily = { allowance: { attempts, windowMs: DAY_MS }, now };
  const ofAll = await takeAttempt(tx, `wallet deployments ${network} in all`, daily);
  if (ofAll !== null) {
    const details = { gas_per_day: settings.walletDeploymentGas };
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
  const until = performance.now() + (ctx.settings.settlementWaitMs ?? SETTLEMENT_WAIT_MS) / 2;
  const subjectId = `${networkOf(intent.tenant.livemode)}:${from.toLowerCase()}`;
  for (;;) {
    const size = await codeSizeOf(chain, from);
    if (size === null) return serviceUnavailable();
    if (size > 0n) return null;
    const status = await selectDeployment(ctx.db, subjectId);
    const isLate = performance.now() > until || gone?.aborted === true;
    if (status === null || (isLate && status === 'succeeded')) {
      return refuse(
        'wallet_not_deployed',
        'The factory of this wallet did not deploy it. Send something from it first, or pay with ' +
          'another wallet. Nothing was charged.',
        'from',
      );
    }
    if (isLate) {
      return refuse(
        'service_unavailable',
        'The wallet is still being deployed. Nothing was charged. Send the same signature again.',
      );
    }
    await sleep(POLL_MS);
  }
}

async function codeSizeOf(chain: PayLink['chain'], address: Hex): Promise<bigint | null> {
  try {
    return await readCodeSize(chain.rpc, address, { urgent: true });
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}
