import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useOnline } from '../../data/use-online.ts';
import { Drawing } from '../../ui/icon.tsx';
import type { WALLET_ICONS } from '../../ui/icon-names.ts';
import { Notice } from '../../ui/notice.tsx';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { SkipLink } from '../../ui/skip-link.tsx';
import { Status } from '../../ui/status.tsx';
import { type TextKey, t } from '../../ui/text/t.ts';
import type { Network } from '../wallet-storage.ts';

type IconName = keyof typeof WALLET_ICONS;

/** SVG paths that the build inserts: see ui/icon-paths.ts. */
const PATHS = import.meta.env.VITE_WALLET_ICONS as Readonly<Record<IconName, string>>;

export interface WalletPage {
  readonly name: TextKey;
  readonly icon: IconName;
  /** Path relative to the service's root, without a leading slash. */
  readonly path: string;
  /** Pages that are reached from this one and that the navigation shows as part of it. */
  readonly below?: readonly string[];
}

export const PAGES: readonly WalletPage[] = [
  { name: 'wallet.pages.home', icon: 'home', path: 'wallet' },
  {
    name: 'wallet.pages.passes',
    icon: 'passes',
    path: 'wallet/passes',
    below: ['wallet/cards', 'wallet/agents'],
  },
  { name: 'wallet.pages.history', icon: 'history', path: 'wallet/history' },
  { name: 'wallet.pages.limits', icon: 'limits', path: 'wallet/limits' },
  { name: 'wallet.pages.settings', icon: 'settings', path: 'wallet/settings' },
];

function isPlainClick(event: React.MouseEvent): boolean {
  const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}

export interface PageLinkProps {
  readonly path: string;
  readonly className?: string;
  /** `page` for the current page, `true` for a page below it. */
  readonly current?: 'page' | 'true' | undefined;
  readonly children: ReactNode;
}

/** Follows a link within the wallet without reloading the page. */
export function PageLink({ path, className, current, children }: PageLinkProps): ReactNode {
  const [, navigate] = useLocation();
  return (
    <a
      href={path}
      className={className}
      aria-current={current}
      onClick={(event) => {
        if (!isPlainClick(event)) return;
        event.preventDefault();
        navigate(`/${path}`);
        window.scrollTo(0, 0);
      }}
    >
      {children}
    </a>
  );
}

function currentOf({ path, below = [] }: WalletPage, current: string) {
  if (path === current) return 'page';
  return below.includes(current) ? 'true' : undefined;
}

export interface FrameProps {
  readonly network: Network;
  readonly current: string;
  readonly children: ReactNode;
}

/** On a phone, the navigation is at the bottom, within reach of the thumb. */
export function Frame({ network, current, children }: FrameProps): ReactNode {
  const online = useOnline();
  return (
    <div className="wallet">
      <SkipLink />
      <header className="wallet-head">
        <span className="wallet-brand">
          <img src="icons/tapline.svg" alt="" />
          {t('wallet.brand')}
        </span>
        {network === 'testnet' ? <Status tone="warn">{t('wallet.test_money')}</Status> : null}
      </header>
      <nav className="wallet-nav" aria-label={t('wallet.brand')}>
        <ul>
          {PAGES.map((page) => (
            <li key={page.path}>
              <PageLink path={page.path} current={currentOf(page, current)}>
                <Drawing path={PATHS[page.icon]} />
                <span>{t(page.name)}</span>
              </PageLink>
            </li>
          ))}
        </ul>
      </nav>
      <main className="wallet-main stack">
        {online ? null : (
          <Notice tone="warn" icon="offline" role="status" data-result={RESULT_NAMES.offline}>
            {t('wallet.offline')}
          </Notice>
        )}
        {children}
      </main>
    </div>
  );
}
