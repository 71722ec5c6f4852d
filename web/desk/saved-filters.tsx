import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';
import { forget, type KeptFilter, keep, readKept, searchOf } from './kept-filters.ts';

function useKept(path: string) {
  const key = `tapline filters ${path}`;
  const [kept, setKept] = useState(() => readKept(localStorage.getItem(key)));
  const store = (next: readonly KeptFilter[]) => {
    localStorage.setItem(key, JSON.stringify(next));
    setKept(next);
  };
  return { kept, store };
}

export function SavedFilters({ scope }: { readonly scope: string }): ReactNode {
  const [path] = useLocation();
  const [params, setParams] = useSearchParams();
  const { kept, store } = useKept(`${scope} ${path}`);
  const now = searchOf(params);
  const current = kept.find(({ search }) => search === now);
  if (kept.length === 0 && now === '') return null;
  return (
    <fieldset className="presets">
      <legend className="unseen">{t('desk.saved_filters.legend')}</legend>
      {kept.map(({ name, search }) => (
        <button
          key={name}
          type="button"
          className="preset"
          aria-pressed={search === now}
          onClick={() => setParams(new URLSearchParams(search === now ? '' : search))}
        >
          <bdi>{name}</bdi>
        </button>
      ))}
      {current === undefined ? null : (
        <Button kind="quiet" onClick={() => store(forget(kept, current.name))}>
          {t('desk.saved_filters.delete_filter.button')}
        </Button>
      )}
      {current === undefined && now !== '' ? (
        <Naming key={now} onKeep={(name) => store(keep(kept, { name, search: now }))} />
      ) : null}
    </fieldset>
  );
}

interface NamingProps {
  readonly onKeep: (name: string) => void;
}

function Naming({ onKeep }: NamingProps): ReactNode {
  const [isNaming, setIsNaming] = useState(false);
  if (!isNaming) {
    return (
      <Button kind="quiet" onClick={() => setIsNaming(true)}>
        {t('desk.saved_filters.save_filter.button')}
      </Button>
    );
  }
  return <NameForm onKeep={onKeep} />;
}

function NameForm({ onKeep }: NamingProps): ReactNode {
  const [name, setName] = useState('');
  const id = useId();
  // The new field replaces the button that was clicked, so it takes over the focus.
  useEffect(() => document.getElementById(id)?.focus(), [id]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') onKeep(name.trim());
  };
  return (
    <form className="row" onSubmit={send}>
      <TextField
        label={t('desk.saved_filters.filter_name.label')}
        id={id}
        maxLength={40}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit">{t('desk.button.save')}</Button>
    </form>
  );
}
