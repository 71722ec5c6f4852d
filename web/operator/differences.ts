import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Pages } from '../desk/reads.ts';
import type { ListPage } from '../desk/walk.ts';
import { usePages } from './operator.ts';

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

/** A page of the differences, newest first, and how far the chains are read. */
export interface Reconciled extends ListPage<Difference> {
  readonly cursors: readonly ReadUpTo[];
}

const WATCH_MS = 10_000;

const PAGE = 100;

/** Each page of the differences. */
export function useDifferences(): Pages<Reconciled> {
  const { scope, at } = usePages(
    'GET /reconciliation',
    (before) => ({ query: { limit: PAGE, before } }),
    { everyMs: WATCH_MS },
  );
  return {
    scope,
    at: (cursor) => {
      const { queryFn, ...reading } = at(cursor);
      return {
        ...reading,
        queryFn: async (context) => {
          const { differences, ...page } = await queryFn(context);
          return { ...page, data: differences } as unknown as Reconciled;
        },
      };
    },
  };
}

/** The newest of them. */
export function useReconciled(): UseQueryResult<Reconciled> {
  return useQuery({ ...useDifferences().at(undefined), placeholderData: keepPreviousData });
}

export function networkName(livemode: boolean): string {
  return livemode ? 'mainnet' : 'testnet';
}
