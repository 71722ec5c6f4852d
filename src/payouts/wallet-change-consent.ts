import { selectMode } from '#accounts/account-queries.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import {
  CONSENT_SECONDS,
  type Consent,
  checkConsent,
  checkDeadline,
  readWallet,
} from '#payouts/check-wallet-consent.ts';
import { checkNoneAnnounced } from '#payouts/may-change-wallet.ts';
import { chainOf, notLive } from '#payouts/merchant-on-chain.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import type { CheckedSignature } from '#settlement/chain/check/signature-refusals.ts';
import { readPayerAccount } from '#settlement/chain/read/payer-balance.ts';
import { readWalletDelay } from '#settlement/chain/read/wallet-delay.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { walletConsent } from '#settlement/contract/signed-messages.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import { walletJson } from '#settlement/typed-data-json.ts';

async function consentOf(
  chain: Chain,
  terms: { readonly merchantNumber: bigint; readonly wallet: Hex; readonly deadline: number },
) {
  const settlement = contractOf(chain.config, terms.merchantNumber);
  const { nonce } = await readPayerAccount(chain, terms.wallet, settlement);
  return walletConsent(chain.config, { ...terms, nonce, deadline: BigInt(terms.deadline) });
}

export async function merchantNumberOf(db: Database, tenant: Tenant): Promise<bigint | Refusal> {
  return (await selectMode(db, tenant))?.merchant_number ?? notLive();
}

/**
 * Builds the message that the new wallet must sign (EIP-712) before {@link changeWallet}.
 * @throws RpcUnavailable
 */
export async function walletChangeConsent(
  ctx: ChainContext,
  wish: { readonly tenant: Tenant; readonly wallet: string; readonly now: Date },
): Promise<{ readonly typedData: Json; readonly deadline: number } | Refusal> {
  const chain = chainOf(ctx.chains, wish.tenant.livemode);
  const wallet = readWallet(wish.wallet, chain);
  if (isRefusal(wallet)) return wallet;
  const merchantNumber = await merchantNumberOf(ctx.db, wish.tenant);
  if (isRefusal(merchantNumber)) return merchantNumber;
  const deadline = Math.floor(wish.now.getTime() / 1000) + CONSENT_SECONDS;
  const typedData = await consentOf(chain, { merchantNumber, wallet, deadline });
  return { typedData: walletJson(typedData), deadline };
}

export interface SignedWallet extends Pick<CheckedSignature, 'deployment'> {
  readonly wallet: Hex;
  readonly merchantNumber: bigint;
  readonly consent: Consent;
  /** The contract's delay before the change takes effect. */
  readonly delaySeconds: number;
}

/**
 * @returns the wallet.
 * @throws RpcUnavailable
 */
export async function readSignedWallet(
  ctx: ChainContext,
  tenant: Tenant,
  signed: { readonly consent: Consent; readonly now: Date },
): Promise<SignedWallet | Refusal> {
  const { consent, now } = signed;
  const chain = chainOf(ctx.chains, tenant.livemode);
  const wallet = readWallet(consent.wallet, chain);
  if (isRefusal(wallet)) return wallet;
  const late = checkDeadline(consent.deadline, now);
  if (late !== null) return late;
  const merchantNumber = await merchantNumberOf(ctx.db, tenant);
  if (isRefusal(merchantNumber)) return merchantNumber;
  const terms = { merchantNumber, wallet, deadline: consent.deadline };
  const typedData = await consentOf(chain, terms);
  const { signature } = consent;
  const checked = await checkConsent(chain, { wallet, typedData, signature });
  // Announcing another wallet consumes the nonce, which invalidates this signature. The refusal
  // then names the announcement.
  if (isRefusal(checked)) return (await checkNoneAnnounced(ctx.db, tenant)) ?? checked;
  const delaySeconds = await readWalletDelay(chain, merchantNumber);
  const { deployment } = checked;
  const accepted = { ...consent, signature: checked.signature };
  return { wallet, merchantNumber, consent: accepted, delaySeconds, deployment };
}
