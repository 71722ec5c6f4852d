import type { ReactNode } from 'react';

/** The browser's language; some browsers name one that Intl does not know. */
function language(): string {
  try {
    return Intl.getCanonicalLocales(navigator.language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

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

/** `full` without its year: of this one most things are, and a phone's row has no room for it. */
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
  return new Intl.DateTimeFormat(language(), { ...options, ...zone }).format(at);
}

export interface TimeProps {
  /** As the API writes it. */
  readonly at: string;
  readonly shape?: TimeShape;
  /** Default: the device's. */
  readonly timeZone?: string;
}

/** The one way in which a moment is drawn; the exact one is its title. */
export function Time({ at, shape = 'full', timeZone }: TimeProps): ReactNode {
  return (
    <time dateTime={at} title={at}>
      {formatTime(at, shape, timeZone)}
    </time>
  );
}
