import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { Icon, type IconName } from './icon.tsx';
import { t } from './text/t.ts';

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

/** Shows a status. Color, icon and text each convey it on their own. */
export function Status({ tone, children }: StatusProps): ReactNode {
  return (
    <span className={`status is-${tone}`}>
      <Icon name={ICONS[tone]} />
      {children}
    </span>
  );
}

/** Statuses of the API's objects. An unknown one is shown unchanged. */
const KNOWN = {
  requires_payment_method: 'info',
  requires_action: 'warn',
  processing: 'info',
  pending: 'info',
  succeeded: 'good',
  paid: 'good',
  partially_refunded: 'warn',
  refunded: 'plain',
  canceled: 'plain',
  failed: 'bad',
  bounced: 'bad',
  active: 'good',
  inactive: 'plain',
  enabled: 'good',
  disabled: 'bad',
  approved: 'good',
  rejected: 'bad',
} as const satisfies Readonly<Record<string, Tone>>;

function isKnown(status: string): status is keyof typeof KNOWN {
  return status in KNOWN;
}

export function ObjectStatus({ status }: { readonly status: string }): ReactNode {
  if (!isKnown(status)) return <Status tone="plain">{named(status.replaceAll('_', ' '))}</Status>;
  return <Status tone={KNOWN[status]}>{t(`status.${status}`)}</Status>;
}
