import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { named } from '#i18n/bidi-isolates.ts';
import { valueIn } from '../../data/api.ts';
import type { DashboardTerminal } from '../../data/types/dashboard.ts';
import { useMerchant } from '../use-merchant.ts';

/** Maximum page size of the service. */
const MOST = 100;

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
