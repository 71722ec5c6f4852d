import { type ContractConstructorArgs, encodeDeployData, encodeFunctionData, type Hex } from 'viem';
import { settlementAbi, settlementBytecode } from './artifacts/Settlement.ts';
import { settlementLensAbi, settlementLensBytecode } from './artifacts/SettlementLens.ts';
import { timelockAbi, timelockBytecode } from './artifacts/Timelock.ts';

// The creation of a settlement contract, and the two calls that complete it. Each is a transaction
// of its own, because one that made all three contracts would be too expensive on some chains
// (docs/gas-rules.md).

/** The constructor's arguments: the token, and the setup (README.md). */
export type DeploymentArguments = ContractConstructorArgs<typeof settlementAbi>;

/** Returns the creation code of the settlement contract, with its arguments. */
export function settlementCreation(
  args: DeploymentArguments,
  bytecode: Hex = settlementBytecode,
): Hex {
  return encodeDeployData({ abi: settlementAbi, bytecode, args });
}

/**
 * Returns the call data with which the settlement contract creates its lens, and then its timelock.
 */
export function plannedCreations([token, setup]: DeploymentArguments) {
  const { governanceDelay, proposers } = setup;
  const call = (creationCode: Hex) =>
    encodeFunctionData({ abi: settlementAbi, functionName: 'deployPlanned', args: [creationCode] });
  const lens = { abi: settlementLensAbi, bytecode: settlementLensBytecode, args: [token] } as const;
  const timelock = {
    ...{ abi: timelockAbi, bytecode: timelockBytecode },
    args: [BigInt(governanceDelay), proposers],
  } as const;
  return { lens: call(encodeDeployData(lens)), timelock: call(encodeDeployData(timelock)) };
}
