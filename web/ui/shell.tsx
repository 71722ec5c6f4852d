import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { useArrival } from './arrival.ts';
import './shell.css';

export interface ShellPage {
  readonly name: string;
  /** From the root of the service, without a leading slash: `dashboard/payments`. */
  readonly path: string;
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

/** On a phone the navigation is a strip: the page that is open stands in its middle. */
function useCenteredPage(currentPath: string | undefined): RefObject<HTMLElement | null> {
  const strip = useRef<HTMLElement>(null);
  useEffect(() => {
    const nav = strip.current;
    const link = nav?.querySelector(`a[href="${currentPath ?? ''}"]`);
    if (nav === null || !link) return;
    const [outer, inner] = [nav.getBoundingClientRect(), link.getBoundingClientRect()];
    nav.scrollLeft += inner.x + inner.width / 2 - outer.x - outer.width / 2;
  }, [currentPath]);
  return strip;
}

/** The frame of an app with several pages: every page is one visible link of the navigation. */
export function Shell(props: ShellProps): ReactNode {
  const { brand, pages, current, onNavigate, foot, children } = props;
  const currentPath = pathAbove(pages, current);
  const strip = useCenteredPage(currentPath);
  const main = useRef<HTMLElement>(null);
  useArrival(main, current);
  return (
    <div className="shell">
      <header className="shell-side">
        <div className="shell-brand">
          <img src="icons/tapline.svg" alt="" />
          {brand}
        </div>
        <nav ref={strip} className="shell-nav" aria-label={brand}>
          <ul>
            {pages.map(({ name, path, opensGroup }) => (
              <li key={path} className={opensGroup === true ? 'shell-group' : undefined}>
                <a
                  href={path}
                  aria-current={path === currentPath ? 'page' : undefined}
                  onClick={(event) => {
                    if (!isPlainClick(event)) return;
                    event.preventDefault();
                    onNavigate(path);
                  }}
                >
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="shell-foot">{foot}</div>
      </header>
      <main ref={main} className="shell-main">
        {children}
      </main>
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
      <div className="stack">{children}</div>
    </>
  );
}
