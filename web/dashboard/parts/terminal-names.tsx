import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { named } from '#core/isolates.ts';
import { useRead } from '../merchant.ts';

/** The service's page limit. Terminals beyond it are found by their ids. */
const MOST = 100;

/** Labels of the account's terminals, by id. */
function useTerminalNames(): ReadonlyMap<string, string> {
  const { data } = useRead('GET /accounts/{account}/{mode}/terminals', { query: { limit: MOST } });
  return new Map(data?.data.map(({ id, label }) => [id, label]));
}

/** Options for a select, by id. */
export function useTerminalOptions(): (readonly [id: string, words: string])[] {
  return [...useTerminalNames()].map(([id, label]) => [id, named(label)]);
}

/** For rows that link elsewhere. */
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
