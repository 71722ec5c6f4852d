import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { named } from '#core/isolates.ts';
import { useRead } from '../merchant.ts';

/** The service's page limit. For terminals beyond it, the id is shown instead of the label. */
const MOST = 100;

/** Returns the labels of the account's terminals, by id. */
function useTerminalNames(): ReadonlyMap<string, string> {
  const { data } = useRead('GET /accounts/{account}/{mode}/terminals', { query: { limit: MOST } });
  return new Map(data?.data.map(({ id, label }) => [id, label]));
}

/** Returns the terminals as options for a select, by id. */
export function useTerminalOptions(): (readonly [id: string, words: string])[] {
  return [...useTerminalNames()].map(([id, label]) => [id, named(label)]);
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
