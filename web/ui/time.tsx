import { createContext, type ReactNode, useContext } from 'react';
import { t, textLocale } from './text/t.ts';

export type TimeShape = 'full' | 'day' | 'clock' | 'exact';

const SHAPES: Readonly<Record<TimeShape, Intl.DateTimeFormatOptions>> = {
  full: { dateStyle: 'medium', timeStyle: 'short' },
  day: { dateStyle: 'medium' },
  clock: { timeStyle: 'short' },
  exact: {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  },
};

/**
 * Like `full`, but without the year: most dates are in the current year, and a phone's row is
 * narrow.
 */
const OF_THIS_YEAR = {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
} as const;

export function formatTime(iso: string, shape: TimeShape, timeZone?: string): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const at = new Date(iso);
  const yearOf = (date: Date) =>
    new Intl.DateTimeFormat('en', { year: 'numeric', ...zone }).format(date);
  const isShort = shape === 'full' && yearOf(at) === yearOf(new Date());
  const options = isShort ? OF_THIS_YEAR : SHAPES[shape];
  return new Intl.DateTimeFormat(textLocale(), { ...options, ...zone }).format(at);
}

const AccountZone = createContext<string | undefined>(undefined);

export interface AccountTimesProps {
  /** `undefined` while loading. */
  readonly timeZone: string | undefined;
  readonly children: ReactNode;
}

/** Shows all times inside it in the account's time zone, like receipts, reports and exports. */
export function AccountTimes({ timeZone, children }: AccountTimesProps): ReactNode {
  return <AccountZone value={timeZone}>{children}</AccountZone>;
}

/** True if both zones have the same offset now and half a year from now. */
function showsTheSame(one: string, other: string): boolean {
  const halfYearMs = 182 * 86_400_000;
  return [Date.now(), Date.now() + halfYearMs].every((at) => {
    const iso = new Date(at).toISOString();
    return formatTime(iso, 'full', one) === formatTime(iso, 'full', other);
  });
}

/** Names the account's time zone if it differs from the user's own. */
export function ZoneNote(): ReactNode {
  const zone = useContext(AccountZone);
  const own = new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
  if (zone === undefined || showsTheSame(zone, own)) return null;
  return <p className="soft small">{t('ui.times_in', { zone })}</p>;
}

export interface TimeProps {
  /** In the API's format. */
  readonly at: string;
  readonly shape?: TimeShape;
  /** Defaults to the account's time zone if there is one, or else the device's. */
  readonly timeZone?: string;
}

export function Time({ at, shape = 'full', timeZone }: TimeProps): ReactNode {
  const zone = useContext(AccountZone);
  return (
    <time dateTime={at} title={at}>
      {formatTime(at, shape, timeZone ?? zone)}
    </time>
  );
}
