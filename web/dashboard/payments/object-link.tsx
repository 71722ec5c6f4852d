import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** The page of each kind of object, by the prefix of its id. */
const PLACES: Readonly<Record<string, string>> = {
  pay: 'payments',
  pi: 'intents',
  re: 'refunds',
  tml: 'terminals',
  ofp: 'offline-payments',
  key: 'api-keys',
  we: 'webhooks',
  evt: 'events',
  req: 'request-log',
  wdr: 'withdrawals',
  wdl: 'webhooks/delivery',
};

/** Lists for objects without a page of their own. */
const LISTS: Readonly<Record<string, string>> = {
  acct: 'settings',
  usr: 'team',
  inv: 'team',
  och: 'team',
  ses: 'settings',
  pkey: 'settings',
  doc: 'verification',
  wch: 'balance',
  hold: 'balance',
  live: 'balance',
  wrp: 'webhooks',
};

export function pathOf(id: string): string | null {
  const [prefix = ''] = id.split('_');
  const folder = PLACES[prefix];
  return folder === undefined ? null : `/dashboard/${folder}/${id}`;
}

/** Returns the page to which an id in the search leads: its own, or the list that contains it. */
export function placeOfId(id: string): string | null {
  const [prefix = '', body] = id.split('_');
  if (body === undefined) return null;
  const list = LISTS[prefix];
  return pathOf(id) ?? (list === undefined ? null : `/dashboard/${list}`);
}

export interface RowLinkProps {
  readonly id: string;
  /** The start of the row. */
  readonly children: ReactNode;
}

/**
 * Links a row to its page, which a click anywhere in the row opens. The link's accessible name
 * contains the id.
 */
export function RowLink({ id, children }: RowLinkProps): ReactNode {
  return (
    <Link href={pathOf(id) ?? ''} className="row-link">
      <span className="unseen">{id} </span>
      {children}
    </Link>
  );
}

export function ObjectLink({ id }: { readonly id: string }): ReactNode {
  const path = pathOf(id);
  if (path === null) return <span className="id">{id}</span>;
  return (
    <Link href={path} className="id">
      {id}
    </Link>
  );
}
