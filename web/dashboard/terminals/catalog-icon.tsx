import type { ReactNode } from 'react';
import { Drawing } from '../../ui/icon.tsx';
import type { CATALOG_ICONS } from '../../ui/icon-names.ts';

type Name = keyof typeof CATALOG_ICONS;

/** SVG paths that the build inserts: see ui/icon-paths.ts. */
const PATHS = import.meta.env.VITE_CATALOG_ICONS as Readonly<Record<Name, string>>;

export function CatalogIcon({ name }: { readonly name: Name }): ReactNode {
  return <Drawing path={PATHS[name]} />;
}
