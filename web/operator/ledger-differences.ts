import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ListPage } from '../desk/pagination.ts';
import type { Pages } from '../desk/use-reads.ts';
import { usePages } from './use-operator.ts';

export interface Difference {
  readonly id: string;
  readonly livemode: boolean;
  readonly kind: string;
  readonly subject: string;
  readonly details: unknown;
  readonly first_seen: string;
  readonly last_seen: string;
  /** Time at which an operator accepted it, or `null`. */
  readonly accepted_at: string | null;
}

/** The block up to which a chain has been read. */
export interface ReadUpTo {
  readonly livemode: boolean;
  readonly next_block: string;
  readonly updated: string;
}

/** A page of differences, newest first, with the block reached on each chain. */
export interface Reconciled extends ListPage<Difference> {
  readonly cursors: readonly ReadUpTo[];
}

const WATCH_MS = 10_000;

const PAGE = 100;

export function useDifferences(): Pages<Reconciled> {
  const { scope, at } = usePages('GET /reconciliation', {}, { limit: PAGE, everyMs: WATCH_MS });
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

/** Reads the first page of the differences. */
export function useReconciled(): UseQueryResult<Reconciled> {
  return useQuery({ ...useDifferences().at(undefined), placeholderData: keepPreviousData });
}

export function networkName(livemode: boolean): string {
  return livemode ? 'mainnet' : 'testnet';
}
