import type { ReactNode } from 'react';
import { Drawing } from '../../ui/icon.tsx';
import type { TILL_ICONS } from '../../ui/icon-names.ts';

/** SVG paths that the build inserts: see ui/icon-paths.ts. */
const PATHS = import.meta.env.VITE_TILL_ICONS as Readonly<Record<keyof typeof TILL_ICONS, string>>;

export function TillIcon({ name }: { readonly name: keyof typeof TILL_ICONS }): ReactNode {
  return <Drawing path={PATHS[name]} />;
}
