import type { ReactNode } from 'react';
import type { ICONS } from './icon-names.ts';

export type IconName = keyof typeof ICONS;

/** SVG paths that the build inserts: see icon-paths.ts. */
const PATHS = import.meta.env.VITE_ICONS as Readonly<Record<IconName, string>>;

/** Draws a Lucide icon from its path, in a box of 24 with a line width of 2. */
export function Drawing({ path }: { readonly path: string }): ReactNode {
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
      <path d={path} pathLength="1" />
    </svg>
  );
}

/** Decorative, because its text always appears beside it. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return <Drawing path={PATHS[name]} />;
}
