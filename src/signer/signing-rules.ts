import {
  parseAbi,
  parseTransaction,
  type TransactionSerializableEIP1559,
  toFunctionSelector,
} from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { NO_TRANSACTION } from '#settlement/remote-signer.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';

/** One key's limits, which apply to all callers. */
export interface Limits {
  readonly chainId: number;
  /** Contracts that may be called. */
  readonly to: readonly Hex[];
  /** Names of allowed functions of the settlement contract or the token. */
  readonly functions: readonly string[];
  readonly maxGas: bigint;
  readonly maxFeePerGas: bigint;
  /** Signatures within any sixty minutes. */
  readonly perHour: number;
}

/**
 * Token functions that anyone can call with the signature of the holder, who may be a key or a
 * contract.
 */
const TOKEN_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, ' +
    'uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, ' +
    'uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, bytes)',
]);

const CHANGING = [...settlementAbi, ...TOKEN_ABI].filter(
  (one) => one.type === 'function' && one.stateMutability === 'nonpayable',
);

/** The functions that change state, by name, each with the selectors of its overloads. */
export const FUNCTIONS: ReadonlyMap<string, readonly string[]> = new Map(
  [...Map.groupBy(CHANGING, ({ name }) => name)].map(([name, overloads]) => [
    name,
    overloads.map(toFunctionSelector),
  ]),
);

export type Checked =
  | { readonly ok: true; readonly transaction: TransactionSerializableEIP1559 }
  | { readonly ok: false; readonly reason: string; readonly code?: string };

const SELECTOR_CHARS = 10;

const NOT_A_TRANSACTION: Checked = {
  ok: false,
  reason: 'this is not an unsigned EIP-1559 transaction',
  code: NO_TRANSACTION,
};

/**
 * Checks a transaction against the limits, without side effects; `signed-nonces.ts` checks the
 * nonce. A call without data to the key's own address is always allowed, because it only uses up a
 * nonce.
 */
export function check(unsigned: Hex, address: Hex, limits: Limits): Checked {
  const no = (reason: string): Checked => ({ ok: false, reason });
  let parsed: TransactionSerializableEIP1559;
  try {
    parsed = parseTransaction(unsigned as `0x02${string}`) as TransactionSerializableEIP1559;
  } catch {
    return NOT_A_TRANSACTION;
  }
  if (parsed.type !== 'eip1559' || parsed.r !== undefined) return NOT_A_TRANSACTION;
  const { chainId, to, value = 0n, data = '0x', gas = 0n, maxFeePerGas = 0n } = parsed;
  if (chainId !== limits.chainId) return no(`chain ${chainId} is not allowed for this key`);
  if (value > 0n) return no('this key may not send native coin');
  if ((parsed.accessList ?? []).length > 0) return no('access lists are not allowed');
  const isCancellation = to?.toLowerCase() === address.toLowerCase() && data === '0x';
  if (!isCancellation && !limits.to.some((one) => one.toLowerCase() === to?.toLowerCase())) {
    return no(`${to ?? 'a new contract'} is not an address that this key may call`);
  }
  const selector = data.slice(0, SELECTOR_CHARS);
  if (
    !isCancellation &&
    !limits.functions.some((name) => FUNCTIONS.get(name)?.includes(selector))
  ) {
    return no(`${selector} is not a function that this key may call`);
  }
  if (gas > limits.maxGas) return no(`gas ${gas} is above this key's limit`);
  if (maxFeePerGas > limits.maxFeePerGas) {
    return no(`maxFeePerGas ${maxFeePerGas} is above this key's limit`);
  }
  return { ok: true, transaction: parsed };
}
