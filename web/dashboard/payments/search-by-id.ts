import { useEffect, useState } from 'react';
import { createCall } from '../../data/typed-calls.ts';
import type { Operations } from '../../data/types/dashboard.ts';
import { useDesk } from '../../desk/desk-context.ts';
import { t } from '../../ui/text/t.ts';
import { pages } from '../pages.ts';
import { type Mode, useMerchant } from '../use-merchant.ts';
import { searchProblem, sumMeant } from './classify-search-text.ts';
import { pageFor } from './find-page-by-words.ts';
import { placeOfId } from './object-link.tsx';

type Results = readonly { readonly [name: string]: unknown }[];

/** True if the typed text is also an amount, and payments of other orders have that amount. */
function hasOtherSales(typed: string, [first, ...others]: Results): boolean {
  if (sumMeant(typed) === null) return false;
  return others.some(({ payment_intent: intent }) => intent !== first?.id);
}

function placeFor(typed: string, results: Results): string | null {
  const page = pages().find(({ name }) => name.toLowerCase() === typed.toLowerCase());
  if (page !== undefined) return `/${page.path}`;
  const [first, second] = results;
  const id = typeof first?.id === 'string' ? first.id : typed;
  if (typed.startsWith('pyr_') && typeof first?.payer === 'string') {
    return `/dashboard/payments?search=${first.payer}`;
  }
  // Several payments match, so open the list.
  if (second !== undefined && (typed.startsWith('0x') || hasOtherSales(typed, results))) {
    return `/dashboard/payments?search=${encodeURIComponent(typed)}`;
  }
  return placeOfId(id);
}

/**
 * The result of a search: the page to open, in this mode or the other one, or the reason why none
 * opens.
 */
export type Result =
  | { readonly is: 'open'; readonly path: string }
  | { readonly is: 'elsewhere'; readonly path: string; readonly mode: Mode }
  | { readonly is: 'nothing'; readonly words: string };

type Call = ReturnType<typeof createCall<Operations, '/dashboard/v1'>>;

interface SearchRequest {
  readonly q: string;
  readonly onFound: (result: Result) => void;
}

/** Runs one search and renders nothing. */
export function LookUp({ q, onFound }: SearchRequest): null {
  const { call, mode, account } = useMerchant();
  const { people } = useDesk();
  const [found] = useState(() => () => {
    const other: Mode = mode === 'test' ? 'live' : 'test';
    const target = { account: account.id, mode: other };
    const there = createCall<Operations, '/dashboard/v1'>(people.api, target);
    return lookUp(q, { here: call, there, other });
  });
  const [tell] = useState(() => onFound);
  useEffect(() => {
    let isCurrent = true;
    void found().then((result) => {
      if (isCurrent) tell(result);
    });
    return () => {
      isCurrent = false;
    };
  }, [found, tell]);
  return null;
}

/** Searches in the current mode, then in the other one. */
async function lookUp(
  q: string,
  { here, there, other }: { readonly here: Call; readonly there: Call; readonly other: Mode },
): Promise<Result> {
  const problem = searchProblem(q);
  if (problem !== null) return { is: 'nothing', words: problem };
  const amount = sumMeant(q);
  const request = { query: { q, ...(amount === null ? {} : { amount }) } };
  const route = 'GET /accounts/{account}/{mode}/search';
  const shown = await here(route, request);
  if (shown.is !== 'done') return { is: 'nothing', words: t('dashboard.go_to.failed') };
  const path = placeFor(q, shown.value.data);
  if (shown.value.data.length > 0 && path !== null) return { is: 'open', path };
  const away = await there(route, request);
  const results = away.is === 'done' && away.value.data.length > 0 ? away.value.data : null;
  const elsewhere = results === null ? null : placeFor(q, results);
  if (elsewhere !== null) return { is: 'elsewhere', path: elsewhere, mode: other };
  // Last, because an order id may be the same as a page's name.
  const page = pageFor(q, pages());
  const open = path ?? (page === null ? null : `/${page.path}`);
  return open === null
    ? { is: 'nothing', words: t('dashboard.go_to.nothing') }
    : { is: 'open', path: open };
}
