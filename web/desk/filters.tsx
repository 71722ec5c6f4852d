import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Button } from '../ui/button.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';

/**
 * The filters and the position of a list. The URL contains them, so that links include them and
 * Back undoes changes.
 */
export interface Filters {
  readonly cursor: string | undefined;
  /** `undefined` if the filter is not set. */
  get(name: string): string | undefined;
  /** Sets the filter and returns to the first page. An empty value removes it. */
  set(name: string, value: string): void;
  /** Sets several filters together, so that one step of Back undoes them. */
  setAll(changes: Readonly<Record<string, string>>): void;
  goTo(cursor: string | null): void;
  clear(): void;
  readonly isFiltered: boolean;
}

export function useFilters(): Filters {
  const [params, setParams] = useSearchParams();
  const setAll = (changes: Readonly<Record<string, string>>) =>
    setParams((now) => {
      const next = new URLSearchParams(now);
      if (!('cursor' in changes)) next.delete('cursor');
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') next.delete(name);
        else next.set(name, value);
      }
      return next;
    });
  return {
    cursor: params.get('cursor') ?? undefined,
    get: (name) => params.get(name) || undefined,
    set: (name, value) => setAll({ [name]: value }),
    setAll,
    goTo: (cursor) => setAll({ cursor: cursor ?? '' }),
    clear: () => setParams(new URLSearchParams()),
    isFiltered: [...params.keys()].some((name) => name !== 'cursor'),
  };
}

export interface FilterBarProps {
  readonly filters: Filters;
  readonly children: ReactNode;
  /** The row below the fields, with named periods and saved filters. */
  readonly below?: ReactNode;
}

export function FilterBar({ filters, children, below }: FilterBarProps): ReactNode {
  const clear = filters.isFiltered ? (
    <Button kind="quiet" onClick={filters.clear}>
      {t('desk.filters.show_all.button')}
    </Button>
  ) : null;
  return (
    <search className="filters">
      {children}
      {below === undefined ? (
        clear
      ) : (
        <div className="filters-rest">
          {below}
          {clear}
        </div>
      )}
    </search>
  );
}

interface FilterProps {
  readonly filters: Filters;
  readonly name: string;
  readonly label: string;
}

export interface FilterSelectProps extends FilterProps {
  readonly all: string;
  readonly options: readonly (readonly [value: string, words: string])[];
}

export function FilterSelect(props: FilterSelectProps): ReactNode {
  const { filters, name, label, all, options } = props;
  return (
    <Select
      label={label}
      value={filters.get(name) ?? ''}
      onChange={(event) => filters.set(name, event.target.value)}
    >
      <option value="">{all}</option>
      {options.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </Select>
  );
}

export interface FilterTextProps extends FilterProps {
  readonly type?: 'text' | 'date';
  readonly placeholder?: string;
  /** Set if the placeholder is a code, so that browsers do not translate it. */
  readonly translate?: 'no';
  /** Checks a text. @returns the problem if the text cannot be searched for, or `null`. */
  readonly check?: (text: string) => string | null;
}

/** A text filter that takes effect on Enter or when the field loses focus. */
export function FilterText(props: FilterTextProps): ReactNode {
  const { filters, name, label, type = 'text', placeholder, translate, check } = props;
  const applied = filters.get(name) ?? '';
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const apply = (value: string) => {
    const wrong = check?.(value) ?? null;
    setProblem(wrong);
    if (wrong !== null) return;
    setTyped(null);
    if (value !== applied) filters.set(name, value.trim());
  };
  return (
    <TextField
      label={label}
      type={type}
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(translate === undefined ? {} : { translate })}
      value={typed ?? applied}
      error={problem}
      onChange={(event) => {
        if (type === 'date') apply(event.target.value);
        else setTyped(event.target.value);
        setProblem(null);
      }}
      onBlur={(event) => apply(event.target.value)}
      onKeyDown={(event) => {
        // An Enter that ends an input method's composition only confirms a word (Safari reports
        // code 229).
        const isComposing = event.nativeEvent.isComposing || event.keyCode === 229;
        if (event.key === 'Enter' && !isComposing) apply(event.currentTarget.value);
      }}
    />
  );
}
