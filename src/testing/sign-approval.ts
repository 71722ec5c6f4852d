import type { PrivateKeyAccount } from 'viem/accounts';
import type { Hex } from '#settlement/chain-requests.ts';
import { spendingPolicy, usdcPermit } from '#settlement/contract/signed-messages.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

export const TERMS = {
  per_payment: 100_000_000,
  per_period: 300_000_000,
  period_seconds: 86_400,
  max_fee_rate: 100,
};

interface Signer {
  readonly account: PrivateKeyAccount;
  /** A contract wallet that the account's key controls. Default: none. */
  readonly wallet?: Hex;
  readonly nonce: number;
}

function inAnHour(): number {
  return Math.floor(Date.now() / 1000) + 3_600;
}

/** Signs the policy for `POST /api/payer/v1/approvals`. */
export async function signPolicyOn(
  network: NetworkConfig,
  signed: Signer & { readonly terms?: typeof TERMS },
) {
  const { account, wallet, nonce, terms = TERMS } = signed;
  const deadline = inAnHour();
  const expiresAt = deadline + 86_400;
  const typed = spendingPolicy(network, {
    payer: wallet ?? account.address,
    perPayment: BigInt(terms.per_payment),
    perPeriod: BigInt(terms.per_period),
    periodSeconds: terms.period_seconds,
    expiresAt: new Date(expiresAt * 1000),
    maxFeeRate: terms.max_fee_rate,
    nonce: BigInt(nonce),
    deadline: BigInt(deadline),
  });
  const signature = await account.signTypedData(typed);
  return { ...terms, expires_at: expiresAt, deadline, signature };
}

/** Signs the permit for `POST /api/payer/v1/approvals`. */
export async function signPermitOn(
  network: NetworkConfig,
  signed: Signer & { readonly value?: number },
) {
  const { account, wallet, nonce, value = 400_000_000 } = signed;
  const deadline = inAnHour();
  const typed = usdcPermit(network, {
    payer: wallet ?? account.address,
    value: BigInt(value),
    nonce: BigInt(nonce),
    deadline: BigInt(deadline),
  });
  return { value, deadline, signature: await account.signTypedData(typed) };
}
