import { type Abi, decodeFunctionData, encodeFunctionData, getContractAddress } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { roleName } from '#settlement/contract/contract-roles.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { timelockAbi } from '../../../contracts/artifacts/Timelock.ts';

/**
 * Returns the address of the timelock, the settlement contract's only admin. The settlement
 * contract's constructor creates it after the lens, so its address follows from the contract's and
 * needs no setting.
 */
export function timelockOf(settlement: Hex): Hex {
  return getContractAddress({ from: settlement, nonce: 2n });
}

export interface OperationCall {
  readonly target: Hex;
  readonly data: Hex;
}

/** No operation of this service depends on another one. */
export const NO_PREDECESSOR: Hex = `0x${'00'.repeat(32)}`;

/** Schedules a call in the timelock; only its proposers may send this. */
export function scheduleCall({ target, data }: OperationCall, salt: Hex, delay: bigint): Hex {
  const args = [target, 0n, data, NO_PREDECESSOR, salt, delay] as const;
  return encodeFunctionData({ abi: timelockAbi, functionName: 'schedule', args });
}

/** Executes a call whose delay has passed; any account may send this. */
export function executeCall(
  { target, data }: OperationCall,
  { predecessor, salt }: { readonly predecessor: Hex; readonly salt: Hex },
): Hex {
  const args = [target, 0n, data, predecessor, salt] as const;
  return encodeFunctionData({ abi: timelockAbi, functionName: 'execute', args });
}

function decode(abi: Abi, data: Hex) {
  try {
    return decodeFunctionData({ abi, data });
  } catch {
    return null;
  }
}

/**
 * Describes a call's effect in a sentence. `known` is false for a call that this service never
 * makes.
 */
export function describeOperation(
  settlement: Hex,
  { target, data }: OperationCall,
): { readonly says: string; readonly known: boolean } {
  const onTimelock = target.toLowerCase() === timelockOf(settlement).toLowerCase();
  const isOurs = onTimelock || target.toLowerCase() === settlement.toLowerCase();
  const call = isOurs ? decode(onTimelock ? timelockAbi : settlementAbi, data) : null;
  const says = call === null ? null : wordsOf(call.functionName, call.args ?? []);
  if (says !== null) return { says, known: true };
  return { says: `Calls ${target} with ${data.slice(0, 10)}, which is unknown.`, known: false };
}

type Rates = { readonly acquirer: number; readonly protocol: number; readonly cashback: number };

function wordsOf(functionName: string, args: readonly unknown[]): string | null {
  const [first, second] = args;
  const role = roleName(String(first)) ?? String(first);
  switch (functionName) {
    case 'setRates': {
      const { acquirer, protocol, cashback } = first as Rates;
      return `Rates become ${acquirer}, ${protocol} and ${cashback} basis points.`;
    }
    case 'raiseCeiling':
      return `Up to ${String(first)} USDC may settle per hour.`;
    case 'grantRole':
      return `${String(second)} becomes ${role}.`;
    case 'revokeRole':
      return `${String(second)} is no longer ${role}.`;
    case 'updateDelay':
      return `The delay of operations becomes ${String(first)} s, within its bounds.`;
    default:
      return null;
  }
}
