import type { Account, PublicClient, Transport, WalletClient } from 'viem';
import { StartError } from '#core/start-error.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { type DeploymentArguments, plannedCreations } from '../../../../contracts/deployment.ts';

/** A transaction of a deployment. It has been made if there is code at `address`. */
export interface DeploymentStep {
  readonly name: string;
  readonly address: Hex;
  /** `null` for a transaction that creates the contract itself. */
  readonly to: Hex | null;
  readonly data: Hex;
}

export interface Deployer {
  readonly reader: Pick<PublicClient, 'getCode' | 'estimateGas' | 'waitForTransactionReceipt'>;
  readonly wallet: Pick<WalletClient<Transport, undefined, Account>, 'account' | 'sendTransaction'>;
  readonly receiptTimeoutMs: number;
}

/**
 * Returns the steps that follow the creation of the settlement contract. In one transaction with
 * it, they would exceed what some chains allow (docs/gas-rules.md).
 */
export function completingSteps(settlement: Hex, args: DeploymentArguments): DeploymentStep[] {
  const { lens, timelock } = plannedCreations(args);
  return [
    { name: 'lens', address: lensOf(settlement), to: settlement, data: lens },
    { name: 'timelock', address: timelockOf(settlement), to: settlement, data: timelock },
  ];
}

/**
 * Sends the steps that are missing, each after the one before it was mined, so that an interrupted
 * deployment continues where it stopped.
 * @returns the block of each step; `null` for those that were made before.
 * @throws StartError if a step is reverted.
 */
export async function deployInSteps(
  deployer: Deployer,
  steps: readonly DeploymentStep[],
): Promise<(bigint | null)[]> {
  const blocks: (bigint | null)[] = [];
  for (const step of steps) {
    blocks.push((await isMade(deployer, step)) ? null : await make(deployer, step));
  }
  return blocks;
}

async function isMade({ reader }: Deployer, { address }: DeploymentStep): Promise<boolean> {
  return (await reader.getCode({ address })) !== undefined;
}

async function make(deployer: Deployer, step: DeploymentStep): Promise<bigint> {
  const { reader, wallet, receiptTimeoutMs: timeout } = deployer;
  const { name, to, data } = step;
  const { account } = wallet;
  const gas = withReserve(await reader.estimateGas({ account, to, data }));
  const hash = await wallet.sendTransaction({ chain: null, account, to, data, gas });
  const receipt = await reader.waitForTransactionReceipt({ hash, timeout });
  // The same deployment may run twice. Then one of the two transactions is reverted.
  if (receipt.status === 'success' || (await isMade(deployer, step))) return receipt.blockNumber;
  throw new StartError(`the deployment of the ${name} (${hash}) was reverted`);
}

/** Returns an estimate and a fifth more, rounded up. */
export function withReserve(gas: bigint): bigint {
  return (gas * 6n + 4n) / 5n;
}
