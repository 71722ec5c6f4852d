import { keccak256 } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Attempt, Fees } from '#settlement/relayer/rows/state.ts';
import type { Hex } from '#settlement/requests.ts';

export interface Unsigned {
  readonly chainId: number;
  readonly nonce: bigint;
  readonly to: Hex;
  readonly input: Hex;
  readonly gasLimit: bigint;
  readonly fees: Fees;
}

/** The signed bytes of a transaction. Store them before you send them. */
export async function signAttempt(
  account: PrivateKeyAccount,
  unsigned: Unsigned,
  noop = false,
): Promise<Attempt> {
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: unsigned.chainId,
    nonce: Number(unsigned.nonce),
    to: unsigned.to,
    data: unsigned.input,
    value: 0n,
    gas: unsigned.gasLimit,
    ...unsigned.fees,
  });
  return { hash: keccak256(raw), raw, noop, fees: unsigned.fees };
}
