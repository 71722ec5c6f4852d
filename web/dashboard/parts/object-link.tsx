import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** Where each kind of object has its page. */
const PLACES: Readonly<Record<string, string>> = {
  pay: 'payments',
  pi: 'intents',
  re: 'refunds',
  tml: 'terminals',
  key: 'api-keys',
  we: 'webhooks',
  evt: 'events',
  req: 'request-log',
  wdr: 'withdrawals',
  wdl: 'webhooks/delivery',
};

/** Objects without a page of their own: the page that lists them. */
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

/** The path of an object's page; null: it has none. */
export function pathOf(id: string): string | null {
  const [prefix = ''] = id.split('_');
  const place = PLACES[prefix];
  return place === undefined ? null : `/dashboard/${place}/${id}`;
}

/** Where a bare id leads: to its page, or to the list that has it. */
export function placeOfId(id: string): string | null {
  const [prefix = '', body] = id.split('_');
  if (body === undefined) return null;
  const list = LISTS[prefix];
  return pathOf(id) ?? (list === undefined ? null : `/dashboard/${list}`);
}

export interface RowLinkProps {
  readonly id: string;
  /** What the row begins with. */
  readonly children: ReactNode;
}

/** The way from a row to its page, also for a click beside it; its name holds the id. */
export function RowLink({ id, children }: RowLinkProps): ReactNode {
  return (
    <Link href={pathOf(id) ?? ''} className="row-link">
      <span className="unseen">{id} </span>
      {children}
    </Link>
  );
}

/** An id, and the way to what it names. */
export function ObjectLink({ id }: { readonly id: string }): ReactNode {
  const path = pathOf(id);
  if (path === null) return <span className="id">{id}</span>;
  return (
    <Link href={path} className="id">
      {id}
    </Link>
  );
}
