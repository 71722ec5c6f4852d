import type { UseQueryResult } from '@tanstack/react-query';
import { createContext, useContext, useMemo } from 'react';
import type { Session } from '../data/people-api.ts';
import {
  type Call,
  createCall,
  type ResponseOf,
  type RouteName,
  type RouteRequest,
} from '../data/typed-calls.ts';
import type { Account as FullAccount, Operations } from '../data/types/dashboard.ts';
import { useDesk } from '../desk/desk-context.ts';
import {
  type Pages,
  type PagesOptions,
  pagesOf,
  type ReadOptions,
  useReadOf,
} from '../desk/use-reads.ts';

export type Account = Session['accounts'][number];
export type Role = Account['role'];
export type Mode = 'test' | 'live';

const ROLES: readonly Role[] = ['cashier', 'viewer', 'member', 'admin', 'owner'];

/** The account and mode whose data the page shows. */
export interface MerchantPlace {
  readonly account: Account;
  readonly mode: Mode;
  setMode(mode: Mode): void;
  setAccount(id: string): void;
}

export const MerchantContext = createContext<MerchantPlace | null>(null);

export interface Merchant extends MerchantPlace {
  /** Fills in account and mode in each path. */
  readonly call: Call<Operations, '/dashboard/v1'>;
  readonly scope: readonly string[];
  /** True if the user has this role or a higher one. */
  may(role: Role): boolean;
}

export function useMerchant(): Merchant {
  const merchant = useContext(MerchantContext);
  const { people } = useDesk();
  if (merchant === null) throw new Error('useMerchant is used outside of an account');
  const { account, mode } = merchant;
  return useMemo(
    () => ({
      ...merchant,
      call: createCall<Operations, '/dashboard/v1'>(people.api, { account: account.id, mode }),
      scope: [account.id, mode],
      may: (role) => ROLES.indexOf(account.role) >= ROLES.indexOf(role),
    }),
    [merchant, people, account, mode],
  );
}

type Name = RouteName<Operations, '/dashboard/v1'>;

export function useRead<Route extends Name>(
  name: Route,
  request?: RouteRequest<Operations, '/dashboard/v1', Route>,
  options?: ReadOptions<ResponseOf<Operations, '/dashboard/v1', Route>>,
): UseQueryResult<ResponseOf<Operations, '/dashboard/v1', Route>> {
  return useReadOf(useMerchant(), { name, request }, options);
}

export function usePages<Route extends Name>(
  name: Route,
  request?: RouteRequest<Operations, '/dashboard/v1', Route>,
  options?: PagesOptions,
): Pages<ResponseOf<Operations, '/dashboard/v1', Route>> {
  return pagesOf(useMerchant(), { name, request }, options);
}

/**
 * Reads the account with all fields. A cashier gets fewer of them, but sees no page that calls
 * this.
 */
export function useAccount(): UseQueryResult<FullAccount> {
  return useRead('GET /accounts/{account}') as UseQueryResult<FullAccount>;
}
