import { parseTransaction, type TransactionSerializableEIP1559, toFunctionSelector } from 'viem';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';

/** What one key may sign, whoever asks. */
export interface Limits {
  readonly chainId: number;
  /** Contracts that it may call. */
  readonly to: readonly Hex[];
  /** Names of the settlement contract's functions. */
  readonly functions: readonly string[];
  readonly maxGas: bigint;
  readonly maxFeePerGas: bigint;
  /** Signatures in any sixty minutes. */
  readonly perHour: number;
}

/** The names of the contract's functions that change something. */
export const FUNCTIONS: ReadonlyMap<string, Hex> = new Map(
  settlementAbi.flatMap((one) =>
    one.type === 'function' && one.stateMutability === 'nonpayable'
      ? [[one.name, toFunctionSelector(one)] as const]
      : [],
  ),
);

export type Checked =
  | { readonly ok: true; readonly transaction: TransactionSerializableEIP1559 }
  | { readonly ok: false; readonly reason: string };

const SELECTOR_CHARS = 10;

/** Pure: the memory of what was signed has its own say (`memory.ts`). */
export function check(unsigned: Hex, limits: Limits): Checked {
  const no = (reason: string): Checked => ({ ok: false, reason });
  let parsed: TransactionSerializableEIP1559;
  try {
    parsed = parseTransaction(unsigned as `0x02${string}`) as TransactionSerializableEIP1559;
  } catch {
    return no('this is no unsigned EIP-1559 transaction');
  }
  if (parsed.type !== 'eip1559' || parsed.r !== undefined) {
    return no('this is no unsigned EIP-1559 transaction');
  }
  const { chainId, to, value = 0n, data = '0x', gas = 0n, maxFeePerGas = 0n } = parsed;
  if (chainId !== limits.chainId) return no(`chain ${chainId} is not this key's`);
  if (value > 0n) return no('this key sends no coin');
  if ((parsed.accessList ?? []).length > 0) return no('an access list is not signed');
  if (!limits.to.some((one) => one.toLowerCase() === to?.toLowerCase())) {
    return no(`${to ?? 'a new contract'} is no address that this key may call`);
  }
  const selector = data.slice(0, SELECTOR_CHARS);
  if (!limits.functions.some((name) => FUNCTIONS.get(name) === selector)) {
    return no(`${selector} is no function that this key may call`);
  }
  if (gas > limits.maxGas) return no(`gas ${gas} is above this key's limit`);
  if (maxFeePerGas > limits.maxFeePerGas) {
    return no(`maxFeePerGas ${maxFeePerGas} is above this key's limit`);
  }
  return { ok: true, transaction: parsed };
}
