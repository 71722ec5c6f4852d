import { encodeFunctionData } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { scheduleCall, timelockOf } from '#settlement/contract/timelock-calls.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

/**
 * An action on the contract. The service does not hold the necessary keys, so it only prepares the
 * call, which the network's staff then signs elsewhere.
 */
export type ControlAction = 'pause' | 'unpause' | 'change_rates';

/** Basis points. */
export interface AnnouncedRates {
  readonly acquirer: number;
  readonly protocol: number;
  readonly cashback: number;
}

/** A transaction that the holder of a key must send. */
export interface ControlCall {
  readonly by: 'proposer' | 'guardian' | 'steward';
  /** A sentence that describes the effect. */
  readonly says: string;
  readonly to: Hex;
  readonly data: Hex;
}

const PARTS = ['Settling', 'Refunding'] as const;

export interface ControlTerms {
  readonly settlement: Hex;
  readonly rates: AnnouncedRates;
  /** The delay of an operation, in seconds. */
  readonly delay: bigint;
  /** Distinguishes this operation from others that make the same call. */
  readonly salt: Hex;
}

/** Returns the calls that carry out an action, in order. New rates have to wait in the timelock. */
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
