import { useEffect, useState } from 'react';

/** Time between two updates of a countdown. */
const TICK_MS = 250;

/** Counts down by the service's clock, because the device's clock may be wrong. */
export function useTimeLeft(until: string, clockOffsetMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return Date.parse(until) - (now + clockOffsetMs);
}

/** Formats a duration, for example `1:05`. */
export function formatLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
