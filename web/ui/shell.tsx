import { type ReactNode, useEffect, useId, useRef, useSyncExternalStore } from 'react';
import { useArrival } from './arrival.ts';
import { Icon } from './icon.tsx';
import { LastResort } from './last-resort.tsx';
import { SheetGrip } from './sheet-grip.tsx';
import './shell.css';
import { SkipLink } from './skip-link.tsx';
import { t } from './text/t.ts';
import { ZoneNote } from './time.tsx';

export interface ShellPage {
  readonly name: string;
  /** The English name by which scripts find its link. */
  readonly 'data-name'?: string;
  /** From the root of the service, without a leading slash: `dashboard/payments`. */
  readonly path: string;
  readonly icon?: ReactNode;
  /** Whether a new group of links begins here. */
  readonly opensGroup?: boolean;
}

export interface ShellProps {
  readonly brand: string;
  readonly pages: readonly ShellPage[];
  /** The path of the page that is shown. */
  readonly current: string;
  /** Follows a link without loading the page again. */
  readonly onNavigate: (path: string) => void;
  /** What holds on every page, in a word or two. */
  readonly mark?: ReactNode;
  /** Who is signed in, the mode, and the way out. */
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

function isPlainClick(event: React.MouseEvent): boolean {
  const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}

/** The page that the present one is part of: the longest path that leads to it. */
function pathAbove(pages: readonly ShellPage[], current: string): string | undefined {
  return pages
    .map(({ path }) => path)
    .filter((path) => current === path || current.startsWith(`${path}/`))
    .sort((one, other) => other.length - one.length)[0];
}

/** As in shell.css: from here on the navigation has a place beside the page. */
const NARROW = '(width < 56rem)';

function onWidthChanged(changed: () => void): () => void {
  const query = matchMedia(NARROW);
  query.addEventListener('change', changed);
  return () => query.removeEventListener('change', changed);
}

function useIsNarrow(): boolean {
  return useSyncExternalStore(onWidthChanged, () => matchMedia(NARROW).matches);
}

interface SideProps extends Pick<ShellProps, 'brand' | 'pages' | 'onNavigate' | 'mark' | 'foot'> {
  readonly id: string;
  readonly isSheet: boolean;
  readonly currentPath: string | undefined;
}

/**
 * All pages, and who is signed in. Beside the page where there is room. On a small screen it stands
 * at the page's end, where every link is in view, and the bar's button brings it up as a sheet.
 */
function Side(props: SideProps): ReactNode {
  const { id, isSheet, brand, pages, currentPath, onNavigate, mark, foot } = props;
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
          {mark}
        </div>
      )}
      <nav className="shell-nav" aria-label={brand}>
        <ul>
          {pages.map(({ name, path, icon, opensGroup, 'data-name': dataName }) => (
            <li key={path} className={opensGroup === true ? 'shell-group' : undefined}>
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
      </nav>
      <div className="shell-foot">{foot}</div>
    </aside>
  );
}

/** The frame of an app with several pages: every page is one visible link of the navigation. */
export function Shell(props: ShellProps): ReactNode {
  const { brand, pages, current, onNavigate, mark, foot, children } = props;
  const currentPath = pathAbove(pages, current);
  const main = useRef<HTMLElement>(null);
  const isNarrow = useIsNarrow();
  const id = useId();
  useArrival(main, current);
  // Whatever led to another page: the sheet is done.
  useEffect(() => {
    const sheet = document.getElementById(id);
    if (current !== '' && sheet?.matches(':popover-open') === true) sheet.hidePopover();
  }, [id, current]);
  const side = (
    <Side
      key="side"
      {...{ id, brand, pages, currentPath, onNavigate, mark, foot }}
      isSheet={isNarrow}
    />
  );
  const page = (
    <main key="main" ref={main} className="shell-main">
      {/* A page whose code is gone after an update leaves the navigation in its place. */}
      <LastResort key={current} isPart>
        {children}
      </LastResort>
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
          {mark}
          <button type="button" className="shell-menu" popoverTarget={id}>
            <Icon name="menu" /> {t('ui.shell.menu')}
          </button>
        </header>
      ) : null}
      {/* In the order in which they are seen. */}
      {isNarrow ? [page, side] : [side, page]}
    </div>
  );
}

export interface PageProps {
  readonly title: string;
  /** What one can do here. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** One page: its heading is its title, and the window's. */
export function Page({ title, actions, children }: PageProps): ReactNode {
  return (
    <>
      <title>{`${title} · Tapline`}</title>
      <div className="page-head">
        {/* A link that leads here gives it the focus: see arrival.ts. */}
        <h1 tabIndex={-1}>{title}</h1>
        <div className="row">{actions}</div>
      </div>
      <ZoneNote />
      <div className="stack">{children}</div>
    </>
  );
}
