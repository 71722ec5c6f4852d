import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { type Answer, valueIn } from '../data/api.ts';
import type { Payer, Wallet } from '../data/payer-api.ts';
import type { MovementList } from '../data/types/payer.ts';
import { rememberBalance } from './known-balance.ts';
import { rememberRates } from './signed-prices.ts';
import { type Here, useHere } from './wallet-context.tsx';

/** Polling interval of the visible page. A tap at a till changes this data without an event. */
const WATCH_MS = 5_000;
/** A value beside a balance may be a minute old. */
const RATES_MS = 60_000;

/** What a unit of each currency costs in USDC. */
interface ExchangeRateList {
  readonly data: readonly { readonly currency: string; readonly rate: string }[];
}

export function keyOf({ vault, network }: Here, name: string): readonly string[] {
  return [network, vault.address, name];
}

export function useWallet(): UseQueryResult<Wallet> {
  const here = useHere();
  return useQuery({
    queryKey: keyOf(here, 'wallet'),
    queryFn: async () => {
      const wallet = valueIn(await here.api.wallet());
      rememberBalance(here.network, here.vault.address, BigInt(wallet.balance));
      return wallet;
    },
    refetchInterval: WATCH_MS,
  });
}

/** The rates of the currencies in which sums can also be shown. */
export function ratesQuery(here: Here) {
  return {
    queryKey: keyOf(here, 'rates'),
    queryFn: async () => valueIn(await here.api.ask<ExchangeRateList>({ path: '/rates' })).data,
    refetchInterval: RATES_MS,
  };
}

export function useMe(): UseQueryResult<Payer> {
  const here = useHere();
  return useQuery({
    queryKey: keyOf(here, 'me'),
    queryFn: async () => valueIn(await here.api.me()),
  });
}

interface Page<T> {
  readonly data: T[];
  readonly next_cursor: string | null;
}

/** A list that can load further pages. */
export type Pages<T> = UseInfiniteQueryResult<InfiniteData<Page<T>>>;

function usePages<P extends Page<unknown>>(
  name: string,
  load: (here: Here, cursor: string | null) => Promise<Answer<P>>,
  refetchInterval: number | false = WATCH_MS,
): UseInfiniteQueryResult<InfiniteData<P>> {
  const here = useHere();
  return useInfiniteQuery({
    queryKey: keyOf(here, name),
    queryFn: async ({ pageParam }) => valueIn(await load(here, pageParam)),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval,
  });
}

export const usePasses = () => usePages('passes', ({ api }, cursor) => api.passes(cursor));
export const useCards = () => usePages('cards', ({ api }, cursor) => api.cards(cursor));
export const usePayments = () =>
  usePages('payments', async ({ api }, cursor) => {
    const answer = await api.payments(cursor);
    if (answer.is === 'done' && cursor === null) rememberRates(answer.value.data);
    return answer;
  });
/** Not polled, because the service reads the chain for each request, and only so often a day. */
export const useMovements = () =>
  usePages(
    'movements',
    ({ api }, cursor) =>
      api.ask<MovementList>({
        path: '/movements',
        query: { ...(cursor === null ? {} : { cursor }) },
      }),
    false,
  );
export const useAgentTokens = () =>
  usePages('agent tokens', ({ api }, cursor) => api.agentTokens(cursor));

export function rowsOf<T>({ data }: Pages<T>): readonly T[] | null {
  return data === undefined ? null : data.pages.flatMap((page) => page.data);
}
