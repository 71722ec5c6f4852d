import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'plain';

const ICONS: Readonly<Record<Tone, IconName>> = {
  good: 'good',
  bad: 'bad',
  warn: 'warn',
  info: 'info',
  plain: 'none',
};

export interface StatusProps {
  readonly tone: Tone;
  readonly children: string;
}

/** Color, icon and word: each says it by itself. */
export function Status({ tone, children }: StatusProps): ReactNode {
  return (
    <span className={`status is-${tone}`}>
      <Icon name={ICONS[tone]} />
      {children}
    </span>
  );
}

/** The statuses of the API's objects. One that is not known here is shown as it is. */
const KNOWN: Readonly<Record<string, readonly [Tone, string]>> = {
  requires_payment_method: ['info', 'Waiting for a tap'],
  requires_action: ['warn', 'Waiting for the customer'],
  processing: ['info', 'Processing'],
  pending: ['info', 'Pending'],
  succeeded: ['good', 'Succeeded'],
  paid: ['good', 'Paid'],
  partially_refunded: ['warn', 'Partly refunded'],
  refunded: ['plain', 'Refunded'],
  canceled: ['plain', 'Canceled'],
  failed: ['bad', 'Failed'],
  active: ['good', 'Active'],
  inactive: ['plain', 'Inactive'],
  enabled: ['good', 'Enabled'],
  disabled: ['bad', 'Disabled'],
  approved: ['good', 'Approved'],
  rejected: ['bad', 'Rejected'],
};

export function ObjectStatus({ status }: { readonly status: string }): ReactNode {
  const [tone, word] = KNOWN[status] ?? ['plain', status.replaceAll('_', ' ')];
  return <Status tone={tone}>{word}</Status>;
}
