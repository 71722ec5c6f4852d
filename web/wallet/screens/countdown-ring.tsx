import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../../ui/text/t.ts';

/**
 * The time to answer a confirmation (behavior.md 12.3), and also the validity of a one-minute code.
 */
const MINUTE_MS = 60_000;
const TICK_MS = 250;
/** Circumference of a circle with radius 20. */
const AROUND = 2 * Math.PI * 20;

export function CountdownRing({
  left,
  wholeMs = MINUTE_MS,
}: {
  readonly left: () => number;
  readonly wholeMs?: number;
}): ReactNode {
  const [ms, setMs] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => setMs(left()), TICK_MS);
    return () => clearInterval(timer);
  }, [left]);
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const part = Math.min(1, Math.max(0, ms / wholeMs));
  return (
    <span className="countdown" role="timer" aria-label={t('wallet.seconds_left', { seconds })}>
      <svg viewBox="0 0 48 48" aria-hidden="true">
        <circle className="countdown-way" cx="24" cy="24" r="20" />
        <circle
          className="countdown-left"
          cx="24"
          cy="24"
          r="20"
          strokeDasharray={AROUND}
          strokeDashoffset={AROUND * (1 - part)}
          transform="rotate(-90 24 24)"
        />
      </svg>
      <span aria-hidden="true">{seconds}</span>
    </span>
  );
}
