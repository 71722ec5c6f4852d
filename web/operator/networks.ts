import type { UseQueryResult } from '@tanstack/react-query';
import { useRead } from './operator.ts';

export interface Sender {
  readonly sender: number;
  readonly role: string;
  readonly address: string;
  readonly owner: string | null;
  readonly unmined: number;
  readonly oldestUnmined: string | null;
  /** null: no node answers. */
  readonly balanceWei: string | null;
  /** Were each sent alone at present fees, tip included; null: not known. */
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

/** One network as its relayers see it. Numbers of the chain are decimal strings. */
export interface Network {
  readonly network: string;
  /** null: no node answers. */
  readonly head: { readonly number: string; readonly time: string } | null;
  readonly senders: readonly Sender[];
  /** That the coin of the senders at work lasts at last week's rate; null: not known. */
  readonly daysLeft: number | null;
  readonly queues: readonly ChainQueue[];
  readonly alarms: readonly Alarm[];
  readonly openDifferences: number;
}

/** Each reading asks a node: not more often than a person needs. */
const WATCH_MS = 10_000;

export function useNetworks(): UseQueryResult<{ readonly data: readonly Network[] }> {
  const query = useRead('GET /relayers', undefined, { everyMs: WATCH_MS });
  return query as unknown as UseQueryResult<{ readonly data: readonly Network[] }>;
}
