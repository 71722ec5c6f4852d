import type { Hex } from '#settlement/chain-requests.ts';
import { RpcUnavailable } from '#settlement/rpc-unavailable.ts';

/** A settlement contract, and the block of its deployment, before which it has no events. */
export interface ContractPlace {
  readonly settlement: Hex;
  readonly deployedAtBlock: bigint;
}

/**
 * A network's contracts: the current one, which merchants and payers join now, and the previous
 * ones.
 */
export interface Contracts extends ContractPlace {
  /**
   * The previous contracts, oldest first. Payments made on one are refunded and withdrawn on it.
   */
  readonly formerSettlements: readonly ContractPlace[];
}

/**
 * Each contract numbers its merchants from 1, in 32 bits. The service uses these numbers unchanged
 * for the first contract, adds 2^32 for the second, and so on. A merchant number therefore contains
 * the contract's version, and so does every payment, refund and withdrawal
 * (docs/decisions/two-contracts.md).
 */
const VERSION_BITS = 32n;
const ON_CONTRACT = (1n << VERSION_BITS) - 1n;

/** Returns all contracts, oldest first: a contract's index in this list is its version. */
export function contractsOf({
  formerSettlements,
  settlement,
  deployedAtBlock,
}: Contracts): readonly ContractPlace[] {
  return [...formerSettlements, { settlement, deployedAtBlock }];
}

/** Returns the version of the contract on which the merchant is registered; 0 is the first. */
export function contractVersionOf(merchantNumber: bigint): number {
  return Number(merchantNumber >> VERSION_BITS);
}

export function currentContractVersion({ formerSettlements }: Contracts): number {
  return formerSettlements.length;
}

/** True if this process's settings name the merchant's contract. */
export function knowsMerchant(contracts: Contracts, merchantNumber: bigint): boolean {
  return contractVersionOf(merchantNumber) <= currentContractVersion(contracts);
}

/**
 * @throws RpcUnavailable if this process's settings do not name that contract yet; the process must
 * then do nothing for this merchant.
 */
export function contractOf(contracts: Contracts, merchantNumber: bigint): Hex {
  const contract = contractsOf(contracts)[contractVersionOf(merchantNumber)];
  if (contract !== undefined) return contract.settlement;
  throw new RpcUnavailable('the settings of this process omit the contract of a merchant');
}

export function numberOnContract(merchantNumber: bigint): number {
  return Number(merchantNumber & ON_CONTRACT);
}

export function merchantNumberOf(contractVersion: number, onContract: number | bigint): bigint {
  return (BigInt(contractVersion) << VERSION_BITS) | BigInt(onContract);
}

/**
 * Returns the version of the contract at this address; `null` if the network has no contract there.
 */
export function contractVersionAt(contracts: Contracts, address: Hex): number | null {
  const sought = address.toLowerCase();
  const index = contractsOf(contracts).findIndex((one) => one.settlement.toLowerCase() === sought);
  return index < 0 ? null : index;
}

/** Returns the first block that can contain events of any of the contracts. */
export function firstBlockOf(contracts: Contracts): bigint {
  const blocks = contractsOf(contracts).map((one) => one.deployedAtBlock);
  return blocks.reduce((least, block) => (block < least ? block : least));
}
