import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useRead } from '../use-merchant.ts';

/**
 * Maximum page size of the service. Terminals beyond it appear with their id instead of the label.
 */
const MOST = 100;

function useTerminalNames(): ReadonlyMap<string, string> {
  const { data } = useRead('GET /accounts/{account}/{mode}/terminals', { query: { limit: MOST } });
  return new Map(data?.data.map(({ id, label }) => [id, label]));
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
