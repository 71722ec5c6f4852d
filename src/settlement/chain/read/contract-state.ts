import { type Abi, decodeFunctionResult, encodeFunctionData } from 'viem';
import type { Chain, EthCall } from '#settlement/chain/chain.ts';
import { readHoldings } from '#settlement/chain/read/contract-holdings.ts';
import { readAnnounced } from '#settlement/chain/read/merchant-wallets.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../../contracts/artifacts/SettlementLens.ts';

/** A change that takes effect unless it is canceled in time. */
export interface Announced {
  /**
   * The id of a timelock operation; `null` for a new wallet, which the merchant number identifies.
   */
  readonly operation: Hex | null;
  readonly says: string;
  /**
   * The address of the proposer. For an operation it is the timelock's own address, because the
   * timelock does not record proposers.
   */
  readonly by: Hex;
  readonly applicableAt: Date;
}

/** Atoms. */
export interface Hourly {
  readonly perHour: bigint;
  readonly used: bigint;
}

export interface ContractState {
  readonly settlingPaused: boolean;
  readonly refundingPaused: boolean;
  readonly sales: Hourly;
  /** Limit and use of refunds. */
  readonly outflow: Hourly;
  /** The timelock. */
  readonly admin: Hex;
  readonly guardians: number;
  readonly held: bigint;
  readonly owed: bigint;
  readonly fees: bigint;
  /**
   * Proposed wallets only. Pending operations are found through their events: see role-holders.ts.
   */
  readonly announced: readonly Announced[];
}

const MS = 1_000;

type Decoded<T> = { readonly call: EthCall; readonly decode: (data: Hex) => T };

/**
 * Reads several views in one request.
 * @throws RpcUnavailable
 */
async function ask<T extends readonly Decoded<unknown>[]>(
  chain: Chain,
  views: T,
): Promise<{ [K in keyof T]: T[K] extends Decoded<infer R> ? R : never }> {
  const answers = await chain.calls(views.map(({ call }) => call));
  return views.map(({ decode }, i) => decodeView(answers[i], decode)) as never;
}

function viewsOf(settlement: Hex) {
  const viewOf = <T>(to: Hex, abi: Abi, functionName: string): Decoded<T> => ({
    call: { to, data: encodeFunctionData({ abi, functionName }), words: 'any' },
    decode: (data) => decodeFunctionResult({ abi, functionName, data }) as T,
  });
  return {
    own: <T>(name: string) => viewOf<T>(settlement, settlementAbi, name),
    seen: <T>(name: string) => viewOf<T>(lensOf(settlement), settlementLensAbi, name),
  };
}

async function readWallets(chain: Chain, settlement: Hex, merchants: number): Promise<Announced[]> {
  const announced = await readAnnounced(chain, { settlement, first: 1, last: merchants });
  return announced.map(({ merchant, from, to, applicableAt, proposer }) => ({
    operation: null,
    says: `Merchant ${merchant} is paid to ${to}, no longer to ${from}.`,
    by: proposer,
    applicableAt: new Date(applicableAt * MS),
  }));
}

/**
 * Reads everything from the contract, nothing from the database.
 * @throws RpcUnavailable
 */
export async function readContractState(
  chain: Chain,
  settlement: Hex = chain.config.settlement,
): Promise<ContractState> {
  const { own, seen } = viewsOf(settlement);
  const [settlingPaused, refundingPaused, sales, outflow, admin, guardians] = await ask(chain, [
    seen<boolean>('settlingPaused'),
    seen<boolean>('refundingPaused'),
    seen<[bigint, bigint]>('ceiling'),
    seen<[bigint, bigint]>('outflow'),
    own<Hex>('timelock'),
    own<number>('guardians'),
  ] as const);
  const { merchants, held, owed, fees } = await readHoldings(chain, { settlement });
  return {
    ...{ settlingPaused, refundingPaused, admin, guardians, held, owed, fees },
    sales: { perHour: sales[0], used: sales[1] },
    outflow: { perHour: outflow[0], used: outflow[1] },
    announced: await readWallets(chain, settlement, merchants),
  };
}
