import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  type Call,
  createCall,
  type ResponseOf,
  type RouteName,
  type RouteRequest,
} from '../data/typed-calls.ts';
import type { Operations } from '../data/types/operator.ts';
import { useDesk } from '../desk/desk-context.ts';
import {
  type Pages,
  type PagesOptions,
  pagesOf,
  type ReadOptions,
  useReadOf,
} from '../desk/use-reads.ts';

type Root = '/operator/v1';

export interface Operator {
  readonly call: Call<Operations, Root>;
  readonly scope: readonly string[];
  /** False for support staff, who are read-only. */
  readonly mayChange: boolean;
}

const SCOPE = ['operator'];

export function useOperator(): Operator {
  const { people, session } = useDesk();
  const mayChange = session.staff_role !== 'support';
  return useMemo(
    () => ({ call: createCall<Operations, Root>(people.api), scope: SCOPE, mayChange }),
    [people, mayChange],
  );
}

export function useRead<Route extends RouteName<Operations, Root>>(
  name: Route,
  request?: RouteRequest<Operations, Root, Route>,
  options?: ReadOptions,
): UseQueryResult<ResponseOf<Operations, Root, Route>> {
  return useReadOf(useOperator(), { name, request }, options);
}

export function usePages<Route extends RouteName<Operations, Root>>(
  name: Route,
  request?: RouteRequest<Operations, Root, Route>,
  options?: PagesOptions,
): Pages<ResponseOf<Operations, Root, Route>> {
  return pagesOf(useOperator(), { name, request }, { cursor: 'before', ...options });
}
