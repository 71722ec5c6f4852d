import type { ReactNode } from 'react';
import { Drawing } from '../ui/icon.tsx';
import type { PAGE_ICONS } from '../ui/icon-names.ts';
import type { ShellPage } from '../ui/shell.tsx';

/** SVG paths that the build inserts: see ui/icon-paths.ts. */
const PATHS = import.meta.env.VITE_PAGE_ICONS as Readonly<Record<PageIconName, string>>;

type PageIconName = keyof typeof PAGE_ICONS;

function PageIcon({ name }: { readonly name: PageIconName }): ReactNode {
  return <Drawing path={PATHS[name]} />;
}

/** A page in the navigation. It names its icon, so that lists of pages contain no SVG. */
export interface DeskShellPage extends Omit<ShellPage, 'icon'> {
  readonly icon: PageIconName;
}

export function withIcon({ icon, ...page }: DeskShellPage): ShellPage {
  return { ...page, icon: <PageIcon name={icon} /> };
}
