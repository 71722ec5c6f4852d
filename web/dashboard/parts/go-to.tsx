import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { createCall } from '../../data/routes.ts';
import type { Operations } from '../../data/types/dashboard.ts';
import { useDesk } from '../../desk/desk-context.ts';
import { Button } from '../../ui/button.tsx';
import { type Mode, useMerchant } from '../merchant.ts';
import { PAGES } from '../pages.ts';
import type { Result } from './look-up.ts';

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

/** The code of a look-up comes with the first one. */
function useLookUp(): (q: string) => Promise<Result> {
  const { call, mode, account } = useMerchant();
  const { people } = useDesk();
  return async (q) => {
    const other: Mode = mode === 'test' ? 'live' : 'test';
    const place = { account: account.id, mode: other };
    const there = createCall<Operations, '/dashboard/v1'>(people.api, place);
    try {
      const { lookUp } = await import('./look-up.ts');
      return await lookUp(q, { here: call, there, other });
    } catch {
      return { is: 'nothing', words: 'The search failed. Try again.' };
    }
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
