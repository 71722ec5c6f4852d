import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { createCall } from '../../data/routes.ts';
import type { Operations } from '../../data/types/dashboard.ts';
import { useDesk } from '../../desk/desk-context.ts';
import { Button } from '../../ui/button.tsx';
import { type Mode, useMerchant } from '../merchant.ts';
import { PAGES } from '../pages.ts';
import { placeOfId } from './object-link.tsx';
import { pageFor } from './page-words.ts';
import { searchProblem, sumMeant } from './search-text.ts';

type Found = readonly { readonly [name: string]: unknown }[];

/** Whether payments have the typed sum, beside an order of that name and its own payment. */
function hasOtherSales(typed: string, [first, ...others]: Found): boolean {
  if (sumMeant(typed) === null) return false;
  return others.some(({ payment_intent: intent }) => intent !== first?.id);
}

/** Where to go for what was typed and found; null: nothing fits. */
function placeFor(typed: string, found: Found): string | null {
  const page = PAGES.find(({ name }) => name.toLowerCase() === typed.toLowerCase());
  if (page !== undefined) return `/${page.path}`;
  const [first, second] = found;
  const id = typeof first?.id === 'string' ? first.id : typed;
  if (typed.startsWith('pyr_') && typeof first?.payer === 'string') {
    return `/dashboard/payments?search=${first.payer}`;
  }
  // Several payments share it: the list shows them all.
  if (second !== undefined && (typed.startsWith('0x') || hasOtherSales(typed, found))) {
    return `/dashboard/payments?search=${encodeURIComponent(typed)}`;
  }
  return placeOfId(id);
}

/** Ctrl+K, or a slash outside of a field, leads here. */
function useShortcut(focus: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { target, key, ctrlKey, metaKey } = event;
      const isTyping =
        target instanceof Element && target.matches('input, textarea, select, [role=dialog] *');
      const isAsked = key === 'k' && (ctrlKey || metaKey);
      if (!isAsked && (key !== '/' || isTyping || ctrlKey || metaKey)) return;
      event.preventDefault();
      focus();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [focus]);
}

/** On a small screen the field is in the sheet, which has to come up first. */
function reach(field: HTMLElement | null): void {
  field?.closest<HTMLElement>('[popover]:not(:popover-open)')?.showPopover();
  field?.focus();
}

/** What became of a look-up. */
type Result =
  | { readonly is: 'open'; readonly path: string }
  | { readonly is: 'elsewhere'; readonly path: string; readonly mode: Mode }
  | { readonly is: 'nothing'; readonly words: string };

/** Looks in the mode that is shown, and then in the other one. */
function useLookUp(): (q: string) => Promise<Result> {
  const { call, mode, account } = useMerchant();
  const { people } = useDesk();
  const other: Mode = mode === 'test' ? 'live' : 'test';
  return async (q) => {
    const problem = searchProblem(q);
    if (problem !== null) return { is: 'nothing', words: problem };
    const amount = sumMeant(q);
    const request = { query: { q, ...(amount === null ? {} : { amount }) } };
    const here = await call('GET /accounts/{account}/{mode}/search', request);
    if (here.is !== 'done') {
      return { is: 'nothing', words: 'The search failed. Try again.' };
    }
    const path = placeFor(q, here.value.data);
    if (here.value.data.length > 0 && path !== null) return { is: 'open', path };
    const place = { account: account.id, mode: other };
    const inOther = createCall<Operations, '/dashboard/v1'>(people.api, place);
    const there = await inOther('GET /accounts/{account}/{mode}/search', request);
    const found = there.is === 'done' && there.value.data.length > 0 ? there.value.data : null;
    const away = found === null ? null : placeFor(q, found);
    if (away !== null) return { is: 'elsewhere', path: away, mode: other };
    // Last: an order may be called like something that a page is for.
    const page = pageFor(q, PAGES);
    const open = path ?? (page === null ? null : `/${page.path}`);
    return open === null
      ? { is: 'nothing', words: 'Nothing found. Check the ID, or type the name of a page.' }
      : { is: 'open', path: open };
  };
}

/** Takes whatever a person has at hand: an id, an order, a transaction, an amount, a page. */
export function GoTo(): ReactNode {
  const { setMode } = useMerchant();
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const [result, setResult] = useState<Result | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const [focus] = useState(() => () => reach(field.current));
  const lookUp = useLookUp();
  useShortcut(focus);
  const open = (path: string) => {
    setTyped('');
    setResult(null);
    navigate(path);
  };
  const find = async (event: FormEvent) => {
    event.preventDefault();
    const q = typed.trim();
    setResult(null);
    if (q === '') return;
    const found = await lookUp(q);
    if (found.is === 'open') open(found.path);
    else setResult(found);
  };
  return (
    <search>
      <form onSubmit={(event) => void find(event)}>
        <input
          ref={field}
          className="input"
          type="search"
          aria-label="Go to"
          aria-keyshortcuts="Control+K /"
          placeholder="ID, order or page"
          list="pages"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <datalist id="pages">
          {PAGES.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <p className="small soft" role="status">
          {result?.is === 'nothing' ? result.words : null}
          {result?.is === 'elsewhere' ? `Found in ${result.mode} mode.` : null}
        </p>
        {result?.is === 'elsewhere' ? (
          <Button
            onClick={() => {
              setMode(result.mode);
              open(result.path);
            }}
          >
            Open in {result.mode} mode
          </Button>
        ) : null}
      </form>
    </search>
  );
}
