import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { valueIn } from '../data/api.ts';
import type { Call, ResponseOf, RouteName, RouteRequest } from '../data/routes.ts';

/** How a surface is asked, and whose data it then answers with. */
export interface Asking<Ops, Root extends string> {
  readonly call: Call<Ops, Root>;
  /** Account and mode: what is kept of one is never shown in another. */
  readonly scope: readonly string[];
}

export interface ReadOptions {
  readonly enabled?: boolean;
  /** Asks again while the page is looked at. */
  readonly everyMs?: number;
  /** Shows the page before until the next one is there. */
  readonly keepsBefore?: boolean;
}

/** One read, as Query takes it. */
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

/** The pages of a list: how each is read, and whose they are. */
export interface Pages<Page> {
  readonly scope: readonly string[];
  /** undefined: the list's beginning. */
  at(cursor: string | undefined): Reading<Page>;
}

/** Reads a route: what the service said, kept and asked for again by Query. */
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
