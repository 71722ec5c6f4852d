import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { valueIn } from '../data/api.ts';
import type { Call, ResponseOf, RouteName, RouteRequest } from '../data/routes.ts';

/** A page's access to an API, for one account and mode. */
export interface Asking<Ops, Root extends string> {
  readonly call: Call<Ops, Root>;
  /**
   * Account and mode. They are part of the cache key, so that one account's data never appears in
   * another's pages.
   */
  readonly scope: readonly string[];
}

export interface ReadOptions {
  readonly enabled?: boolean;
  /** Polling interval while the page is visible. */
  readonly everyMs?: number;
  /** Keeps the previous page visible until the next one has loaded. */
  readonly keepsBefore?: boolean;
}

/** One read, as options for TanStack Query. */
export interface Reading<Value> {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<Value>;
  readonly enabled: boolean;
  readonly refetchInterval: number | false;
}

export function readingOf<Ops, Root extends string, Name extends RouteName<Ops, Root> & string>(
  { call, scope }: Asking<Ops, Root>,
  {
    name,
    request,
  }: { readonly name: Name; readonly request?: RouteRequest<Ops, Root, Name> | undefined },
  { enabled = true, everyMs }: ReadOptions = {},
): Reading<ResponseOf<Ops, Root, Name>> {
  return {
    queryKey: [...scope, name, request ?? null],
    queryFn: async ({ signal }) =>
      valueIn(await call(name, { ...(request as RouteRequest<Ops, Root, Name>), signal })),
    enabled,
    refetchInterval: everyMs ?? false,
  };
}

/** The reads of a list's pages, for one account and mode. */
export interface Pages<Page> {
  readonly scope: readonly string[];
  /** Returns the read of one page; `undefined` stands for the first one. */
  at(cursor: string | undefined): Reading<Page>;
}

/** Reads a route through TanStack Query, which caches and refetches the response. */
export function useReadOf<Ops, Root extends string, Name extends RouteName<Ops, Root> & string>(
  asking: Asking<Ops, Root>,
  route: { readonly name: Name; readonly request?: RouteRequest<Ops, Root, Name> | undefined },
  options: ReadOptions = {},
): UseQueryResult<ResponseOf<Ops, Root, Name>> {
  return useQuery({
    ...readingOf(asking, route, options),
    ...(options.keepsBefore === true ? { placeholderData: keepPreviousData } : {}),
  }) as UseQueryResult<ResponseOf<Ops, Root, Name>>;
}
