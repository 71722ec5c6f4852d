import { lockAccount, selectMode } from '#accounts/account-queries.ts';
import { type Actor, actorId } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { type Consent, type GoLiveDeps, typedDataJson } from '#accounts/go-live.ts';
import { checkOwnersSettled } from '#accounts/owner-changes.ts';
import { mailOwners } from '#accounts/owner-mail.ts';
import { checkNotHeld } from '#accounts/payout-holds.ts';
import { MAIL_TOPIC } from '#accounts/people.ts';
import {
  insertWalletChange,
  lockWalletChange,
  selectWalletChange,
  type WalletChangeRow,
} from '#accounts/wallet-change-queries.ts';
import {
  CONSENT_SECONDS,
  checkConsent,
  checkDeadline,
  readWallet,
} from '#accounts/wallet-consent.ts';
import { chainOf, notLive } from '#accounts/withdraw.ts';
import { only, present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import type { Tx } from '#db/database.ts';
import type { Chain } from '#settlement/chain.ts';
import { readPayerAccount } from '#settlement/payer.ts';
import { type Hex, requestOnChain } from '#settlement/requests.ts';
import { walletConsent } from '#settlement/signed-messages.ts';
import { readWalletDelay } from '#settlement/wallet-delay.ts';

export interface ChangeWalletDeps extends GoLiveDeps {
  readonly secretKey: Buffer;
}

interface Ref {
  readonly tenant: Tenant;
  readonly actor: Actor;
  readonly now: Date;
}

async function consentOf(
  chain: Chain,
  of: { readonly merchantNumber: bigint; readonly wallet: Hex; readonly deadline: number },
) {
  const { nonce } = await readPayerAccount(chain, of.wallet);
  return walletConsent(chain.config, { ...of, nonce, deadline: BigInt(of.deadline) });
}

async function merchantNumberOf(
  deps: Pick<GoLiveDeps, 'db'>,
  tenant: Tenant,
): Promise<bigint | Refusal> {
  return (await selectMode(deps.db, tenant))?.merchant_number ?? notLive();
}

/** What the new wallet has to sign (EIP-712) before {@link changeWallet}. @throws RpcUnavailable */
export async function walletChangeConsent(
  deps: GoLiveDeps,
  of: { readonly tenant: Tenant; readonly wallet: string; readonly now: Date },
): Promise<{ readonly typedData: Json; readonly deadline: number } | Refusal> {
  const chain = chainOf(deps.chains, of.tenant.livemode);
  const wallet = readWallet(of.wallet, chain);
  if (isRefusal(wallet)) return wallet;
  const merchantNumber = await merchantNumberOf(deps, of.tenant);
  if (isRefusal(merchantNumber)) return merchantNumber;
  const deadline = Math.floor(of.now.getTime() / 1000) + CONSENT_SECONDS;
  const typedData = await consentOf(chain, { merchantNumber, wallet, deadline });
  return { typedData: typedDataJson(typedData), deadline };
}

interface Checked {
  readonly wallet: Hex;
  readonly consent: Consent;
  readonly merchantNumber: bigint;
  readonly delaySeconds: number;
  readonly secretKey: Buffer;
}

async function write(tx: Tx, ref: Ref, checked: Checked): Promise<WalletChangeRow | Refusal> {
  const { tenant, actor, now } = ref;
  const { wallet, consent, delaySeconds } = checked;
  const { accountId, livemode } = tenant;
  present(await lockAccount(tx, accountId), 'account');
  const early =
    (await checkNotHeld(tx, accountId)) ?? (await checkOwnersSettled(tx, { accountId, now }));
  if (early !== null) return early;
  const open = await selectWalletChange(tx, tenant);
  if (open?.status === 'pending' || open?.status === 'announced') {
    return refuse('unexpected_state', 'Another wallet is announced already: cancel it first.');
  }
  const previousWallet = (await selectMode(tx, tenant))?.settlement_wallet ?? '';
  if (previousWallet.toLowerCase() === wallet.toLowerCase()) {
    return refuse('parameter_invalid', 'This is the settlement wallet already.', 'wallet');
  }
  const id = newId('walletChange', now);
  const requestedBy = actorId(actor);
  const change = { id, tenant, wallet, previousWallet, delaySeconds, requestedBy, now };
  const rows = await insertWalletChange(tx, change);
  const merchantNumber = checked.merchantNumber.toString();
  const deadline = String(consent.deadline);
  const { signature } = consent;
  const payload = { step: 'propose', merchantNumber, wallet, deadline, signature } as const;
  const subjectId = `${id}:propose`;
  await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
  // While it can still be stopped.
  await mailOwners(
    tx,
    { accountId, secretKey: checked.secretKey, now },
    {
      subject: 'A new settlement wallet is announced',
      text:
        `Payouts on ${networkOf(livemode)} will go to ${wallet} instead of ${previousWallet}, ` +
        `${Math.ceil(delaySeconds / 3600)} hours from now at the earliest. If this is not what ` +
        'you want, cancel it in the dashboard now.\n',
    },
  );
  await recordChange(tx, {
    chain: accountId,
    actor,
    action: 'settlement_wallet.change_requested',
    objectId: id,
    livemode,
    before: { wallet: previousWallet },
    after: { wallet },
    now,
  });
  return only(rows, 'wallet change');
}

/**
 * Announces another settlement wallet, with the consent of that wallet. The contract makes it wait;
 * owners are told at once and can cancel. @throws RpcUnavailable
 */
export async function changeWallet(
  deps: ChangeWalletDeps,
  ref: Ref,
  consent: Consent,
): Promise<WalletChangeRow | Refusal> {
  const chain = chainOf(deps.chains, ref.tenant.livemode);
  const wallet = readWallet(consent.wallet, chain);
  if (isRefusal(wallet)) return wallet;
  const late = checkDeadline(consent.deadline, ref.now);
  if (late !== null) return late;
  const merchantNumber = await merchantNumberOf(deps, ref.tenant);
  if (isRefusal(merchantNumber)) return merchantNumber;
  const of = { merchantNumber, wallet, deadline: consent.deadline };
  const typedData = await consentOf(chain, of);
  const forged = await checkConsent(chain, { wallet, typedData, signature: consent.signature });
  if (forged !== null) return forged;
  const delaySeconds = await readWalletDelay(chain);
  const { secretKey } = deps;
  const checked = { wallet, consent, merchantNumber, delaySeconds, secretKey };
  const row = await deps.db.transaction((tx) => write(tx, ref, checked));
  deps.wakeups.send('chain-requests', networkOf(ref.tenant.livemode));
  deps.wakeups.send(MAIL_TOPIC);
  return row;
}

/** Stops an announced wallet; the chain answers within seconds. */
export async function cancelWalletChange(
  deps: Pick<ChangeWalletDeps, 'db' | 'wakeups'>,
  ref: Ref,
): Promise<WalletChangeRow | Refusal> {
  const { tenant, actor, now } = ref;
  const merchantNumber = await merchantNumberOf(deps, tenant);
  if (isRefusal(merchantNumber)) return merchantNumber;
  const result = await deps.db.transaction<WalletChangeRow | Refusal>(async (tx) => {
    present(await lockAccount(tx, tenant.accountId), 'account');
    const newest = await selectWalletChange(tx, tenant);
    const row = newest === undefined ? undefined : await lockWalletChange(tx, newest.id);
    if (row?.status !== 'announced') {
      return refuse('unexpected_state', 'No wallet is announced that could be canceled.');
    }
    const { livemode } = tenant;
    const payload = { step: 'cancel', merchantNumber: merchantNumber.toString() } as const;
    const subjectId = `${row.id}:cancel`;
    await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
    await recordChange(tx, {
      chain: tenant.accountId,
      actor,
      action: 'settlement_wallet.cancel_requested',
      objectId: row.id,
      livemode,
      before: { wallet: row.wallet },
      after: { wallet: row.previous_wallet },
      now,
    });
    return row;
  });
  deps.wakeups.send('chain-requests', networkOf(tenant.livemode));
  return result;
}
