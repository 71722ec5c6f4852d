import { actorId, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { type CheckedConsent, type GoLiveInput, readConsent } from '#payouts/go-live-consent.ts';
import {
  deletePreparation,
  type GoLiveRow,
  goLiveRequests,
  replacePreparation,
  selectPreparation,
} from '#payouts/go-live-queries.ts';
import { checkMayGoLive } from '#payouts/may-go-live.ts';
import { chainOf } from '#payouts/merchant-on-chain.ts';
import { mailOwners } from '#people/owner-mail.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { type DeployFirst, onceDeployed } from '#settlement/chain/check/signature-refusals.ts';
import { type Hex, requestOnChain } from '#settlement/chain-requests.ts';
import { currentContractVersion } from '#settlement/contract-versions.ts';

/**
 * An account's first wallet in a mode, on the contract that new merchants join. Its consent has
 * been checked.
 */
interface FirstWallet extends GoLiveInput {
  readonly wallet: Hex;
  readonly contractVersion: number;
  readonly secretKey: Buffer;
}

/**
 * Returns the settlement job's subject, which allows one registration per account, network and
 * contract.
 */
function subjectOf({ accountId, livemode }: Tenant, contractVersion: number): string {
  const first = `${accountId}:${networkOf(livemode)}`;
  return contractVersion === 0 ? first : `${first}:${contractVersion}`;
}

function contractVersionFor({ chains }: ChainContext, { livemode }: Tenant): number {
  return currentContractVersion(chainOf(chains, livemode).config);
}

async function requestRegistration(tx: Tx, first: FirstWallet): Promise<GoLiveRow | Refusal> {
  const { tenant, actor, now, wallet, contractVersion } = first;
  const refused = await checkMayGoLive(tx, tenant, first);
  if (refused !== null) return refused;
  await deletePreparation(tx, tenant);
  const id = newId('goLive', now);
  const { accountId, livemode } = tenant;
  const request = await goLiveRequests.insert(tx, {
    ...{
      id,
      account_id: accountId,
      livemode,
      wallet,
      contract_version: contractVersion,
      status: 'pending',
    },
    ...{ requested_by: actorId(actor), created: now, updated: now },
  });
  await requestOnChain(tx, {
    livemode,
    kind: 'merchant_registration',
    subjectId: subjectOf(tenant, contractVersion),
    payload: {
      accountId,
      wallet,
      deadline: String(first.consent.deadline),
      signature: first.consent.signature,
    },
    now,
  });
  await mailOwners(tx, { ...first, accountId }, firstWalletMail(first));
  await recordEntry(tx, {
    auditLog: accountId,
    actor,
    action: 'go_live.requested',
    objectId: id,
    livemode,
    before: null,
    after: { wallet },
    now,
  });
  return request;
}

function firstWalletMail(mailed: Pick<FirstWallet, 'tenant' | 'wallet'>) {
  return {
    subject: 'Your Tapline account goes live: where payouts go',
    text:
      `The account goes live on ${networkOf(mailed.tenant.livemode)}. Payouts will go to ` +
      `${mailed.wallet}. If this is not your wallet, contact the network's operator now.\n`,
  };
}

/**
 * Returns the mail about a wallet that an admin has prepared. The wallet takes effect only when an
 * owner confirms it.
 */
function preparedMail(mailed: Pick<FirstWallet, 'tenant' | 'wallet'>) {
  return {
    subject: 'A settlement wallet is waiting for your decision',
    text:
      `An admin has prepared going live on ${networkOf(mailed.tenant.livemode)}. ` +
      `Payouts would go to ${mailed.wallet}. ` +
      'Confirm it in the dashboard if this is right; otherwise do nothing.\n',
  };
}

/**
 * Registers the account on the settlement contract of the mode's network, with the consent of the
 * wallet that will receive its money. Deploys an undeployed wallet first, because the contract
 * calls it to check the signature. Returns `pending`; the chain's result follows within seconds.
 * The caller must have checked that an owner who just verified a factor makes the request.
 */
export async function goLive(
  ctx: ChainContext,
  wish: GoLiveInput,
  deploy: DeployFirst,
): Promise<GoLiveRow | Refusal> {
  const { tenant } = wish;
  const contractVersion = contractVersionFor(ctx, tenant);
  const check = () => readConsent(ctx.chains, wish);
  const signed = await onceDeployed(await check(), {
    check,
    deploy: ({ wallet }, deployment) => {
      const joining = { contractVersion, wallet };
      const whyUnable = () => ctx.db.transaction((tx) => checkMayGoLive(tx, tenant, joining));
      return deploy({ chain: chainOf(ctx.chains, tenant.livemode), wallet, deployment, whyUnable });
    },
  });
  return isRefusal(signed) ? signed : register(ctx, wish, signed);
}

/** Requests the registration of a wallet whose consent has been checked. */
export async function register(
  ctx: ChainContext,
  wish: GoLiveInput,
  { wallet, consent }: CheckedConsent,
): Promise<GoLiveRow | Refusal> {
  const secretKey = ctx.keys.people;
  const contractVersion = contractVersionFor(ctx, wish.tenant);
  const first = { ...wish, wallet, consent, contractVersion, secretKey };
  const row = await ctx.db.transaction((tx) => requestRegistration(tx, first));
  ctx.wakeups.send('chain-requests', networkOf(wish.tenant.livemode));
  return row;
}

/** Stores a signed consent until an owner confirms it. Nothing is sent to the chain. */
export async function prepareGoLive(ctx: ChainContext, wish: GoLiveInput): Promise<null | Refusal> {
  const read = await readConsent(ctx.chains, wish);
  if (isRefusal(read)) return read;
  const { wallet } = read;
  // Stores the wrapped signature of an undeployed wallet, because it contains the deployment.
  const { deadline, signature } = read.deployment === null ? read.consent : wish.consent;
  const { tenant, actor, now } = wish;
  const secretKey = ctx.keys.people;
  const { accountId, livemode } = tenant;
  const contractVersion = contractVersionFor(ctx, tenant);
  const refused = await ctx.db.transaction(async (tx) => {
    const early = await checkMayGoLive(tx, tenant, { contractVersion, wallet });
    if (early !== null) return early;
    const signed = { wallet, deadline, signature, prepared_by: actorId(actor), created: now };
    await replacePreparation(tx, tenant, signed);
    await mailOwners(tx, { accountId, secretKey, now }, preparedMail({ tenant, wallet }));
    await recordEntry(tx, {
      auditLog: accountId,
      actor,
      action: 'go_live.prepared',
      objectId: accountId,
      livemode,
      before: null,
      after: { wallet },
      now,
    });
    return null;
  });
  return refused;
}

/**
 * Goes live with the wallet that an admin has prepared, which must be exactly the one that the
 * owner saw.
 */
export async function confirmGoLive(
  ctx: ChainContext,
  wish: Omit<GoLiveInput, 'consent'> & { readonly wallet: string },
  deploy: DeployFirst,
): Promise<GoLiveRow | Refusal> {
  const prepared = await selectPreparation(ctx.db, wish);
  if (prepared === undefined || prepared.wallet.toLowerCase() !== wish.wallet.toLowerCase()) {
    return refuse(
      'unexpected_state',
      'Going live with this wallet is not prepared, or its signature is too old. Ask an ' +
        'admin to prepare it again.',
    );
  }
  return goLive(ctx, { ...wish, consent: prepared }, deploy);
}
