import type { UseQueryResult } from '@tanstack/react-query';
import { useRead } from './use-operator.ts';

export interface Sender {
  readonly sender: number;
  readonly role: string;
  readonly address: string;
  readonly owner: string | null;
  readonly unmined: number;
  readonly oldestUnmined: string | null;
  /** `null` if no node answers. */
  readonly balanceWei: string | null;
  /**
   * The number of unbatched payments that the balance covers at current fees, including priority
   * fees. `null` if unknown.
   */
  readonly paymentsLeft: string | null;
  readonly low: boolean;
}

export interface ChainQueue {
  readonly kind: string;
  readonly status: string;
  readonly count: number;
  readonly oldest: string;
}

export interface Alarm {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly details: unknown;
  readonly created: string;
}

/** A network and the state of its relayers. Numbers from the chain are decimal strings. */
export interface Network {
  readonly network: string;
  /** `null` if no node answers. */
  readonly head: { readonly number: string; readonly time: string } | null;
  readonly senders: readonly Sender[];
  /** Days until the active senders run out of gas at last week's rate of use. `null` if unknown. */
  readonly daysLeft: number | null;
  readonly queues: readonly ChainQueue[];
  readonly alarms: readonly Alarm[];
  readonly openDifferences: number;
}

/** Polling interval. Each read queries a node, so it is no shorter than necessary. */
const WATCH_MS = 10_000;

export function useNetworks(): UseQueryResult<{ readonly data: readonly Network[] }> {
  const query = useRead('GET /relayers', undefined, { everyMs: WATCH_MS });
  return query as unknown as UseQueryResult<{ readonly data: readonly Network[] }>;
}
