import { actorId, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { followWallets, mailingOf } from '#payouts/follow-wallets.ts';
import {
  checkMayChange,
  otherAnnounced,
  type WalletChangeRef,
} from '#payouts/may-change-wallet.ts';
import { chainOf, readEverywhere } from '#payouts/merchant-on-chain.ts';
import { readSignedWallet, type SignedWallet } from '#payouts/wallet-change-consent.ts';
import { type WalletChangeRow, walletChanges } from '#payouts/wallet-change-queries.ts';
import { mailAboutWallet } from '#payouts/wallet-mail.ts';
import type { Mailing } from '#people/people-context.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { type DeployFirst, onceDeployed } from '#settlement/chain/check/signature-refusals.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';

interface Announced {
  readonly signed: SignedWallet;
  readonly mailing: Mailing;
}

async function announceWallet(
  tx: Tx,
  ref: WalletChangeRef,
  announced: Announced,
): Promise<WalletChangeRow | Refusal> {
  const { tenant, actor, now } = ref;
  const { signed } = announced;
  const { wallet, consent, delaySeconds } = signed;
  const { accountId, livemode } = tenant;
  const previousWallet = await checkMayChange(tx, ref, wallet);
  if (isRefusal(previousWallet)) return previousWallet;
  const id = newId('walletChange', now);
  const row = await walletChanges.insert(tx, {
    ...{ id, account_id: accountId, livemode, merchant_number: signed.merchantNumber, wallet },
    ...{ previous_wallet: previousWallet, status: 'pending', delay_seconds: delaySeconds },
    ...{ applicable_at: null, requested_by: actorId(actor), created: now, updated: now },
  });
  const merchantNumber = signed.merchantNumber.toString();
  const deadline = String(consent.deadline);
  const { signature } = consent;
  const payload = { step: 'propose', merchantNumber, wallet, deadline, signature } as const;
  const subjectId = `${id}:propose`;
  await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
  // Mails the owners while they can still cancel the change.
  await mailAboutWallet(tx, announced.mailing, {
    accountId,
    proposed: { livemode, merchantNumber: signed.merchantNumber, wallet },
    subject: 'A new settlement wallet is announced',
    what:
      `Payouts on ${networkOf(livemode)} will go to ${wallet} instead of ${previousWallet}, ` +
      `${Math.ceil(delaySeconds / 3600)} hours from now at the earliest. An owner asked for it ` +
      'in the dashboard, and can cancel it there.',
    also: '',
    now,
  });
  await recordEntry(tx, {
    auditLog: accountId,
    actor,
    action: 'settlement_wallet.change_requested',
    objectId: id,
    livemode,
    before: { wallet: previousWallet },
    after: { wallet },
    now,
  });
  return row;
}

/**
 * Returns why no other wallet can be announced now, for example because one was announced directly
 * on the contract.
 * @throws RpcUnavailable
 */
async function whyNotNow(ctx: ChainContext, ref: WalletChangeRef): Promise<Refusal | null> {
  const merchants = await readEverywhere(ctx.db, ctx.chains, ref.tenant);
  if (isRefusal(merchants)) return merchants;
  const chain = chainOf(ctx.chains, ref.tenant.livemode);
  await followWallets(ctx, chain, merchants);
  return merchants.at(-1)?.announced == null ? null : otherAnnounced();
}

/**
 * Announces another settlement wallet, with that wallet's consent. The contract delays the change;
 * owners are notified immediately and can cancel it. Deploys an undeployed wallet first, because
 * the contract calls it to check the signature.
 * @throws RpcUnavailable
 */
export async function changeWallet(
  ctx: ChainContext,
  ref: WalletChangeRef,
  input: { readonly consent: SignedWallet['consent']; readonly deploy: DeployFirst },
): Promise<WalletChangeRow | Refusal> {
  const { consent, deploy } = input;
  const chain = chainOf(ctx.chains, ref.tenant.livemode);
  const check = () => readSignedWallet(ctx, ref.tenant, { consent, now: ref.now });
  const signed = await onceDeployed(await check(), {
    check,
    deploy: ({ wallet }, deployment) => {
      const whyUnable = async () => {
        const why = await ctx.db.transaction((tx) => checkMayChange(tx, ref, wallet));
        return isRefusal(why) ? why : whyNotNow(ctx, ref);
      };
      return deploy({ chain, wallet, deployment, whyUnable });
    },
  });
  if (isRefusal(signed)) return signed;
  const early = await whyNotNow(ctx, ref);
  if (early !== null) return early;
  const announced = { signed, mailing: mailingOf(ctx) };
  const row = await ctx.db.transaction((tx) => announceWallet(tx, ref, announced));
  ctx.wakeups.send('chain-requests', networkOf(ref.tenant.livemode));
  return row;
}
