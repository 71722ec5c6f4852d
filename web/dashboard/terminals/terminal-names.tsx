import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import { valueIn } from '../../data/api.ts';
import type { DashboardTerminal } from '../../data/types/dashboard.ts';
import { useMerchant, useRead } from '../use-merchant.ts';

/**
 * Maximum page size of the service. Terminals beyond it appear with their id instead of the label.
 */
const MOST = 100;

function useTerminalNames(): ReadonlyMap<string, string> {
  const { data } = useRead('GET /accounts/{account}/{mode}/terminals', { query: { limit: MOST } });
  return new Map(data?.data.map(({ id, label }) => [id, label]));
}

/** Maximum number of pages, in case a cursor never ends. */
const MOST_PAGES = 100;

/** Reads all terminals as options for a select, page by page. */
export function useEveryTerminal(): UseQueryResult<(readonly [id: string, words: string])[]> {
  const { call, scope } = useMerchant();
  return useQuery({
    queryKey: [...scope, 'all_terminals'],
    queryFn: async ({ signal }) => {
      const all: DashboardTerminal[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const query = { limit: MOST, ...(cursor === undefined ? {} : { cursor }) };
        const name = 'GET /accounts/{account}/{mode}/terminals';
        const { data: some, next_cursor } = valueIn(await call(name, { query, signal }));
        all.push(...some);
        if (next_cursor === null) return all;
        cursor = next_cursor;
      }
      throw new Error(`The list of terminals has more than ${MOST_PAGES} pages.`);
    },
    select: (all) => all.map(({ id, label }) => [id, named(label)] as const),
  });
}

/** Shows a terminal's name without a link, for rows that link elsewhere. */
export function TerminalName({ id }: { readonly id: string }): ReactNode {
  return <bdi>{useTerminalNames().get(id) ?? id}</bdi>;
}

export function TerminalLink({ id }: { readonly id: string }): ReactNode {
  const names = useTerminalNames();
  return (
    <Link href={`/dashboard/terminals/${id}`}>
      <bdi>{names.get(id) ?? id}</bdi>
    </Link>
  );
}
