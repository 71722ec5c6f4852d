import type { Actor } from '#audit/audit.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import {
  CONSENT_SECONDS,
  type Consent,
  checkConsent,
  checkDeadline,
  readWallet,
} from '#payouts/check-wallet-consent.ts';
import { chainOf } from '#payouts/merchant-on-chain.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { CheckedSignature } from '#settlement/chain/check/signature-refusals.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { merchantConsent } from '#settlement/contract/signed-messages.ts';
import { walletJson } from '#settlement/typed-data-json.ts';

/** Builds the message that the settlement wallet must sign (EIP-712) before {@link goLive}. */
export function goLiveConsent(
  chains: readonly Chain[],
  wish: { readonly tenant: Tenant; readonly wallet: string; readonly now: Date },
): { readonly typedData: Json; readonly deadline: number } | Refusal {
  const chain = chainOf(chains, wish.tenant.livemode);
  const wallet = readWallet(wish.wallet, chain);
  if (isRefusal(wallet)) return wallet;
  const deadline = Math.floor(wish.now.getTime() / 1000) + CONSENT_SECONDS;
  const consent = { accountId: wish.tenant.accountId, wallet, deadline: BigInt(deadline) };
  return { typedData: walletJson(merchantConsent(chain.config, consent)), deadline };
}

export interface GoLiveInput {
  readonly tenant: Tenant;
  readonly actor: Actor;
  readonly now: Date;
  readonly consent: Consent;
}

/**
 * A wallet that has signed its consent, with the signature in the form that the contract accepts
 * once the wallet is deployed.
 */
export interface CheckedConsent extends Pick<CheckedSignature, 'deployment'> {
  readonly wallet: Hex;
  readonly consent: Consent;
}

/**
 * Checks that the wallet has signed exactly this consent.
 * @returns the wallet and its consent.
 */
export async function readConsent(
  chains: readonly Chain[],
  { tenant, consent, now }: GoLiveInput,
): Promise<CheckedConsent | Refusal> {
  const chain = chainOf(chains, tenant.livemode);
  const wallet = readWallet(consent.wallet, chain);
  if (isRefusal(wallet)) return wallet;
  const late = checkDeadline(consent.deadline, now);
  if (late !== null) return late;
  const typedData = merchantConsent(chain.config, {
    accountId: tenant.accountId,
    wallet,
    deadline: BigInt(consent.deadline),
  });
  const checked = await checkConsent(chain, { wallet, typedData, signature: consent.signature });
  if (isRefusal(checked)) return checked;
  const { signature, deployment } = checked;
  return { wallet, consent: { ...consent, signature }, deployment };
}
