import type { UseQueryResult } from '@tanstack/react-query';
import { useRead } from './operator.ts';

/** What ledger and chain do not agree on. */
export interface Difference {
  readonly id: string;
  readonly livemode: boolean;
  readonly kind: string;
  readonly subject: string;
  readonly details: unknown;
  readonly first_seen: string;
  readonly last_seen: string;
  /** Known, and lived with as long as it stays. */
  readonly accepted_at: string | null;
}

/** How far one chain has been read. */
export interface ReadUpTo {
  readonly livemode: boolean;
  readonly next_block: string;
  readonly updated: string;
}

export interface Reconciled {
  readonly cursors: readonly ReadUpTo[];
  readonly differences: readonly Difference[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const WATCH_MS = 10_000;

const PAGE = 100;

/** @param before The place of a page; without it the newest. */
export function useReconciled(before?: string): UseQueryResult<Reconciled> {
  const query = useRead(
    'GET /reconciliation',
    { query: { limit: PAGE, before } },
    { everyMs: WATCH_MS, keepsBefore: true },
  );
  return query as unknown as UseQueryResult<Reconciled>;
}

export function networkName(livemode: boolean): string {
  return livemode ? 'mainnet' : 'testnet';
}
