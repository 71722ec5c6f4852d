import { encodeFunctionData } from 'viem';
import { scheduleCall, timelockOf } from '#settlement/contract/timelock.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

/** What the network's staff wants the contract to do. The service does not have the keys for it. */
export type ControlAction = 'pause' | 'unpause' | 'change_rates';

/** Basis points. */
export interface AnnouncedRates {
  readonly acquirer: number;
  readonly protocol: number;
  readonly cashback: number;
}

/** A transaction for the holder of a key. */
export interface ControlCall {
  readonly by: 'proposer' | 'guardian' | 'steward';
  /** One sentence: what it does. */
  readonly says: string;
  readonly to: Hex;
  readonly data: Hex;
}

const PARTS = ['Settling', 'Refunding'] as const;

/** What the calls depend on beside the action. */
export interface ControlTerms {
  readonly settlement: Hex;
  readonly rates: AnnouncedRates;
  /** Seconds that an operation waits. */
  readonly delay: bigint;
  /** Tells this operation from others of the same call. */
  readonly salt: Hex;
}

/** The calls that carry an action out, in their order. Rates wait in the timelock. */
export function controlCalls(
  action: ControlAction,
  { settlement, rates, delay, salt }: ControlTerms,
): ControlCall[] {
  const abi = settlementAbi;
  if (action === 'change_rates') {
    const { acquirer, protocol, cashback } = rates;
    const data = encodeFunctionData({ abi, functionName: 'setRates', args: [rates] });
    const says =
      `Schedules rates of ${acquirer}, ${protocol} and ${cashback} basis points. ` +
      'After the delay, anyone executes them.';
    const to = timelockOf(settlement);
    return [
      { by: 'proposer', says, to, data: scheduleCall({ target: settlement, data }, salt, delay) },
    ];
  }
  const by = action === 'pause' ? 'guardian' : 'steward';
  return PARTS.map((part) => ({
    by,
    to: settlement,
    says: action === 'pause' ? `${part} stops.` : `${part} resumes.`,
    data: encodeFunctionData({ abi, functionName: `${action}${part}` }),
  }));
}
