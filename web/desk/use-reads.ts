import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { valueIn } from '../data/api.ts';
import type { Call, ResponseOf, RouteName, RouteRequest } from '../data/typed-calls.ts';

export interface Asking<Ops, Root extends string> {
  readonly call: Call<Ops, Root>;
  /**
   * Account and mode. They are part of the cache key, so that one account's data never appears in
   * another's pages.
   */
  readonly scope: readonly string[];
}

export interface ReadOptions<Value = unknown> {
  readonly enabled?: boolean;
  /** Polling interval while the page is visible. */
  readonly everyMs?: number;
  /** Returns true if the value can no longer change, which ends the polling. */
  isFinal?(value: Value): boolean;
  /** Keeps the previous page visible until the next one has loaded. */
  readonly keepsBefore?: boolean;
}

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

export interface Pages<Page> {
  readonly scope: readonly string[];
  /** Returns the read of one page; `undefined` stands for the first page. */
  at(cursor: string | undefined): Reading<Page>;
}

export interface PagesOptions extends ReadOptions {
  readonly limit?: number;
  /** The name of the query's cursor. */
  readonly cursor?: 'cursor' | 'before';
}

export function pagesOf<Ops, Root extends string, Name extends RouteName<Ops, Root> & string>(
  asking: Asking<Ops, Root>,
  {
    name,
    request,
  }: { readonly name: Name; readonly request?: RouteRequest<Ops, Root, Name> | undefined },
  { limit = 50, cursor: cursorName = 'cursor', ...options }: PagesOptions = {},
): Pages<ResponseOf<Ops, Root, Name>> {
  const at = (cursor: string | undefined) => {
    const query: object = { limit, [cursorName]: cursor, ...request?.query };
    const ofPage: object = { ...request, query };
    return readingOf(asking, { name, request: ofPage }, options);
  };
  return { scope: asking.scope, at };
}

export function useReadOf<Ops, Root extends string, Name extends RouteName<Ops, Root> & string>(
  asking: Asking<Ops, Root>,
  route: { readonly name: Name; readonly request?: RouteRequest<Ops, Root, Name> | undefined },
  options: ReadOptions<ResponseOf<Ops, Root, Name>> = {},
): UseQueryResult<ResponseOf<Ops, Root, Name>> {
  const { isFinal } = options;
  const reading = readingOf(asking, route, options);
  return useQuery({
    ...reading,
    ...(options.keepsBefore === true ? { placeholderData: keepPreviousData } : {}),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && isFinal?.(data) === true ? false : reading.refetchInterval,
  }) as UseQueryResult<ResponseOf<Ops, Root, Name>>;
}
