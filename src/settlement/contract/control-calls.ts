import { encodeFunctionData } from 'viem';
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
  readonly by: 'admin' | 'guardian';
  /** One sentence: what it does. */
  readonly says: string;
  readonly data: Hex;
}

const PARTS = ['Settling', 'Refunding'] as const;

/** The calls that carry an action out, in their order. Rates come into force after a delay. */
export function controlCalls(action: ControlAction, rates: AnnouncedRates): ControlCall[] {
  const abi = settlementAbi;
  if (action === 'change_rates') {
    const { acquirer, protocol, cashback } = rates;
    const data = encodeFunctionData({ abi, functionName: 'scheduleRates', args: [rates] });
    const says = `Announces rates of ${acquirer}, ${protocol} and ${cashback} basis points.`;
    return [{ by: 'admin', says, data }];
  }
  const by = action === 'pause' ? 'guardian' : 'admin';
  return PARTS.map((part) => ({
    by,
    says: action === 'pause' ? `${part} stops.` : `${part} resumes.`,
    data: encodeFunctionData({ abi, functionName: `${action}${part}` }),
  }));
}
