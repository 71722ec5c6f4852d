import { type ReactNode, useEffect, useId, useRef, useSyncExternalStore } from 'react';
import { ErrorBoundary } from './error-boundary.tsx';
import { Icon } from './icon.tsx';
import { useArrival } from './restore-scroll.ts';
import { SheetGrip } from './sheet-grip.tsx';
import './shell.css';
import { SkipLink } from './skip-link.tsx';
import { t } from './text/t.ts';
import { ZoneNote } from './time.tsx';

export interface ShellPage {
  readonly name: string;
  /** The English name that scripts use to find the link. */
  readonly 'data-name'?: string;
  /** Path relative to the service's root, without a leading slash: `dashboard/payments`. */
  readonly path: string;
  readonly icon?: ReactNode;
  /** Its heading if a group of links begins here, or true for a group without one. */
  readonly opensGroup?: string | boolean;
}

export interface ShellProps {
  readonly brand: string;
  readonly pages: readonly ShellPage[];
  /** Path of the current page. */
  readonly current: string;
  /** Opens a link's page without reloading. */
  readonly onNavigate: (path: string) => void;
  /** A short note that applies to every page. */
  readonly badge?: ReactNode;
  /** Chosen account, above the links. */
  readonly head?: ReactNode;
  /** Signed-in user, mode switch and sign-out. */
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

function isPlainClick(event: React.MouseEvent): boolean {
  const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}

/** Returns the navigation entry for the current page: the one with the longest matching path. */
function pathAbove(pages: readonly ShellPage[], current: string): string | undefined {
  return pages
    .map(({ path }) => path)
    .filter((path) => current === path || current.startsWith(`${path}/`))
    .sort((one, other) => other.length - one.length)[0];
}

/**
 * Matches windows too narrow for the navigation to sit beside the page. Same breakpoint as
 * shell.css.
 */
const NARROW = '(width < 56rem)';

function onWidthChanged(changed: () => void): () => void {
  const query = matchMedia(NARROW);
  query.addEventListener('change', changed);
  return () => query.removeEventListener('change', changed);
}

function useIsNarrow(): boolean {
  return useSyncExternalStore(onWidthChanged, () => matchMedia(NARROW).matches);
}

/** Each group is a list of its own, named by its heading. */
function groupsOf(pages: readonly ShellPage[]): ShellPage[][] {
  const groups: ShellPage[][] = [];
  for (const page of pages) {
    const last = groups.at(-1);
    if (last === undefined || Boolean(page.opensGroup)) groups.push([page]);
    else last.push(page);
  }
  return groups;
}

function Group(props: Pick<SideProps, 'pages' | 'currentPath' | 'onNavigate'>): ReactNode {
  const { pages, currentPath, onNavigate } = props;
  const id = useId();
  const heading = pages[0]?.opensGroup;
  const isNamed = typeof heading === 'string';
  return (
    <div>
      {isNamed ? (
        <p id={id} className="shell-group">
          {heading}
        </p>
      ) : null}
      <ul aria-labelledby={isNamed ? id : undefined}>
        {pages.map(({ name, path, icon, 'data-name': dataName }) => (
          <li key={path}>
            <a
              data-name={dataName}
              href={path}
              aria-current={path === currentPath ? 'page' : undefined}
              onClick={(event) => {
                if (!isPlainClick(event)) return;
                event.preventDefault();
                onNavigate(path);
              }}
            >
              {icon}
              {name}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface SideProps
  extends Pick<ShellProps, 'brand' | 'pages' | 'onNavigate' | 'badge' | 'head' | 'foot'> {
  readonly id: string;
  readonly isSheet: boolean;
  readonly currentPath: string | undefined;
}

/**
 * The navigation and the signed-in user. On a wide screen it is beside the page. On a small one it
 * is at the end of the page, where every link is visible, and a button in the bar opens it as a
 * sheet.
 */
function Side(props: SideProps): ReactNode {
  const { id, isSheet, brand, pages, currentPath, onNavigate, badge, head, foot } = props;
  return (
    <aside
      id={id}
      className={isSheet ? 'shell-side shell-sheet' : 'shell-side'}
      aria-label={t('ui.shell.menu')}
      popover={isSheet ? 'auto' : undefined}
    >
      {isSheet ? (
        <SheetGrip onAway={() => document.getElementById(id)?.hidePopover()} />
      ) : (
        <div className="shell-brand">
          <img src="icons/tapline.svg" alt="" />
          {brand}
          {badge}
        </div>
      )}
      {head === undefined ? null : <div className="shell-head">{head}</div>}
      <nav className="shell-nav" aria-label={brand}>
        {groupsOf(pages).map((group) => (
          <Group key={group[0]?.path} pages={group} {...{ currentPath, onNavigate }} />
        ))}
      </nav>
      <div className="shell-foot">{foot}</div>
    </aside>
  );
}

/** The frame of an app with several pages. The navigation shows a link to every page. */
export function Shell(props: ShellProps): ReactNode {
  const { brand, pages, current, onNavigate, badge, head, foot, children } = props;
  const currentPath = pathAbove(pages, current);
  const main = useRef<HTMLElement>(null);
  const isNarrow = useIsNarrow();
  const id = useId();
  useArrival(main, current);
  // Closes the sheet after any navigation.
  useEffect(() => {
    const sheet = document.getElementById(id);
    if (current !== '' && sheet?.matches(':popover-open') === true) sheet.hidePopover();
  }, [id, current]);
  const side = (
    <Side
      key="side"
      {...{ id, brand, pages, currentPath, onNavigate, badge, head, foot }}
      isSheet={isNarrow}
    />
  );
  const page = (
    <main key="main" ref={main} className="shell-main">
      {/* If a page's code is missing after an update, the navigation still works. */}
      <ErrorBoundary key={current} isPart>
        {children}
      </ErrorBoundary>
    </main>
  );
  return (
    <div className="shell">
      <SkipLink />
      {isNarrow ? (
        <header key="bar" className="shell-bar">
          <div className="shell-brand">
            <img src="icons/tapline.svg" alt="" />
            {brand}
          </div>
          {badge}
          <button type="button" className="shell-menu" popoverTarget={id}>
            <Icon name="menu" /> {t('ui.shell.menu')}
          </button>
        </header>
      ) : null}
      {/* Placed here, so that the DOM order follows the visual order. */}
      {isNarrow ? [page, side] : [side, page]}
    </div>
  );
}

export interface PageProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** One page. Its heading is also the window's title. */
export function Page({ title, actions, children }: PageProps): ReactNode {
  return (
    <>
      <title>{`${title} · Tapline`}</title>
      <div className="page-head">
        {/* Receives the focus after navigation: see restore-scroll.ts. */}
        <h1 tabIndex={-1}>{title}</h1>
        <div className="row">{actions}</div>
      </div>
      <ZoneNote />
      <div className="stack">{children}</div>
    </>
  );
}
