import type { ReactNode } from 'react';

/** Drawn in a square of 24 with a line of 2; beside every icon stands its word. */
const PATHS = {
  good: 'M5 12.5l4.5 4.5L19 7.5',
  bad: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  warn: 'M12 8v5M12 16.5v.5M12 3.5L2.5 20h19z',
  info: 'M12 11v6M12 7.5V7M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18',
  wait: 'M12 7v5l3 2M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18',
  offline:
    'M3 3l18 18M8.5 16a5 5 0 0 1 7 0M5 12.5a10 10 0 0 1 4-2.4M13 9.6a10 10 0 0 1 6 2.9M12 19.5v.1',
  tap: 'M6 9a6 6 0 0 1 0 6M10 6.5a10 10 0 0 1 0 11M14 4a14 14 0 0 1 0 16',
  back: 'M15 5l-7 7l7 7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  delete: 'M9 5h11v14H9l-6-7zM12 9.5l5 5M17 9.5l-5 5',
  none: 'M6 12h12',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg
      className="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
