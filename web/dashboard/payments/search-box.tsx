import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../ui/button.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { t } from '../../ui/text/t.ts';
import { pages } from '../pages.ts';
import { type Mode, useMerchant } from '../use-merchant.ts';
import type { Result } from './search-by-id.ts';

/** Focuses the search on Ctrl+K, or on a slash typed outside a field. */
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

/** On a small screen the field is in a sheet, which must be opened first. */
function reach(field: HTMLElement | null): void {
  field?.closest<HTMLElement>('[popover]:not(:popover-open)')?.showPopover();
  field?.focus();
}

/** Loads the code and texts with the first search. */
const LookUp = partOf(async () => (await import('./search-by-id.ts')).LookUp);

interface SearchRequest {
  readonly q: string;
  /** Numbers the searches, so that two searches for the same text differ. */
  readonly number: number;
}

export function GoTo(): ReactNode {
  const { setMode } = useMerchant();
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const [result, setResult] = useState<Result | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const [focus] = useState(() => () => reach(field.current));
  const [request, setRequest] = useState<SearchRequest | null>(null);
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
    setRequest(null);
    if (q === '') return;
    try {
      await LookUp.load();
      setRequest({ q, number: (request?.number ?? 0) + 1 });
    } catch {
      setResult({ is: 'nothing', words: t('dashboard.go_to.failed') });
    }
  };
  const take = (result: Result) => {
    setRequest(null);
    if (result.is === 'open') open(result.path);
    else setResult(result);
  };
  return (
    <search>
      <form onSubmit={(event) => void find(event)}>
        <input
          ref={field}
          className="input"
          type="search"
          aria-label={t('dashboard.go_to.label')}
          aria-keyshortcuts="Control+K /"
          placeholder={t('dashboard.go_to.id_order_or_page.placeholder')}
          list="pages"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <PageNames id="pages" />
        <SearchResult
          result={result}
          onOpen={(mode, path) => {
            setMode(mode);
            open(path);
          }}
        />
      </form>
      {request === null ? null : <LookUp key={request.number} q={request.q} onFound={take} />}
    </search>
  );
}

function PageNames({ id }: { readonly id: string }): ReactNode {
  return (
    <datalist id={id}>
      {pages().map(({ key, name }) => (
        <option key={key} value={name} />
      ))}
    </datalist>
  );
}

interface SearchResultProps {
  readonly result: Result | null;
  readonly onOpen: (mode: Mode, path: string) => void;
}

/** Explains why no page was opened. */
function SearchResult({ result, onOpen }: SearchResultProps): ReactNode {
  const away = result?.is === 'elsewhere' ? result : null;
  return (
    <>
      <p className="small soft" role="status">
        {result?.is === 'nothing' ? result.words : null}
        {away === null ? null : t('dashboard.go_to.found_in_mode', { mode: away.mode })}
      </p>
      {away === null ? null : (
        <Button onClick={() => onOpen(away.mode, away.path)}>
          {t('dashboard.go_to.open_in_mode.button', { mode: away.mode })}
        </Button>
      )}
    </>
  );
}
