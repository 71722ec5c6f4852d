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

export function formatTime(iso: string, shape: TimeShape, timeZone?: string): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  return new Intl.DateTimeFormat(language(), { ...SHAPES[shape], ...zone }).format(new Date(iso));
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
