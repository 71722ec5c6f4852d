import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { OfflinePayment } from '../../data/types/dashboard.ts';
import { priceOf } from '../../ui/quoted-price.ts';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { TerminalName } from '../terminals/terminal-names.tsx';
import { ObjectLink } from './object-link.tsx';
import { SaleSum } from './sale-sum.tsx';

type Reason = NonNullable<OfflinePayment['bounce_reason']>;

/** Typed so that a reason that is missing here, or that has no text, fails to compile. */
const REASONS: Readonly<Record<Reason, true>> = {
  insufficient_funds: true,
  authorization_expired: true,
  authorization_used: true,
  authorization_invalid: true,
  rates_changed: true,
  blocked: true,
  limit_exceeded: true,
  already_paid: true,
  wallet_refuses: true,
};

/** For an unknown reason, returns its code with spaces instead of underscores. */
export function bounceWords(reason: string): string {
  if (!Object.hasOwn(REASONS, reason)) return named(reason.replaceAll('_', ' '));
  return t(`dashboard.offline.reason.${reason as Reason}`);
}

/** Says what the owner can do about a bounce; `null` for an unknown reason. */
export function bounceAdvice(reason: string): string | null {
  return Object.hasOwn(REASONS, reason) ? t(`dashboard.offline.advice.${reason as Reason}`) : null;
}

function Result({ sale }: { readonly sale: OfflinePayment }): ReactNode {
  if (sale.payment !== null) return <ObjectLink id={sale.payment} />;
  return sale.bounce_reason === null ? null : <>{bounceWords(sale.bounce_reason)}</>;
}

export const offlineColumns = (): readonly Column<OfflinePayment>[] => [
  {
    name: t('dashboard.field.amount'),
    number: true,
    cell: ({ id, amount, presentment }) => (
      <SaleSum id={id} atoms={BigInt(amount)} price={priceOf(presentment)} />
    ),
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: t('dashboard.offline.result.column'), cell: (sale) => <Result sale={sale} /> },
  { name: t('dashboard.field.terminal'), cell: ({ terminal }) => <TerminalName id={terminal} /> },
  {
    name: t('dashboard.offline.accepted.column'),
    cell: ({ accepted_at: at }) => <Time at={at} />,
  },
];
