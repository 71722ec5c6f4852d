import { randomBytes } from 'node:crypto';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Hex, RequestPayloads } from '#settlement/chain-requests.ts';
import { usdcTransfer } from '#settlement/contract/signed-messages.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

const VALID_S = 900;

/** The body of `POST /api/payer/v1/transfers`. */
export interface SignedTransfer {
  readonly to: Hex;
  /** Atoms. */
  readonly amount: number;
  /** Unix seconds. */
  readonly valid_before: number;
  readonly nonce: Hex;
  readonly signature: Hex;
}

/**
 * Signs a USDC transfer, which the operator submits and pays the gas for. `now` is the chain's time
 * in seconds.
 */
export async function signTransfer(
  config: NetworkConfig,
  account: PrivateKeyAccount,
  { to, amount, now }: { readonly to: Hex; readonly amount: number; readonly now?: number },
): Promise<SignedTransfer> {
  const validBefore = (now ?? Math.floor(Date.now() / 1000)) + VALID_S;
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
  const typed = usdcTransfer(config, {
    from: account.address,
    to: to.toLowerCase() as Hex,
    value: BigInt(amount),
    validBefore: BigInt(validBefore),
    nonce,
  });
  const signature = await account.signTypedData(typed);
  return { to, amount, valid_before: validBefore, nonce, signature };
}

/** Returns the payload of the settlement job that the service creates for the transfer. */
export function transferPayload(
  from: Hex,
  { to, amount, valid_before, nonce, signature }: SignedTransfer,
): RequestPayloads['transfer'] {
  const [sum, validBefore] = [String(amount), String(valid_before)];
  return { from, to, amount: sum, validBefore, nonce, signature };
}
