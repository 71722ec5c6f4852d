import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { keepApp } from '../data/cache-app-on-device.ts';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';
import { canKeepKeys } from './key-vault.ts';
import { CONTRACTS, ContractsNotice } from './screens/contracts-notice.tsx';
import { Frame } from './screens/frame.tsx';
import { HomePage } from './screens/home.tsx';
import {
  AgentsPage,
  CardsPage,
  ContractsPage,
  HistoryPage,
  LimitsPage,
  PassesPage,
  PayOfflinePage,
  SettingsPage,
  StaticPassToasts,
  TakeBackPage,
  WalletLock,
} from './screens/lazy-pages.ts';
import { SignInScreen } from './screens/unlock.tsx';
import { Updates } from './screens/updates.tsx';
import { Welcome } from './screens/welcome.tsx';
import { SignedIn, useSession } from './wallet-context.tsx';
import { kept, useKept } from './wallet-storage.ts';

/** Pages by path below the root. Unknown paths show the home page. */
const PAGES_BY_PATH: Readonly<Record<string, ComponentType>> = {
  'wallet/passes': PassesPage,
  'wallet/history': HistoryPage,
  'wallet/limits': LimitsPage,
  'wallet/agents': AgentsPage,
  'wallet/cards': CardsPage,
  'wallet/settings': SettingsPage,
};

/** Path of a page that is not in the list, because it needs no session. */
const TAKE_BACK = 'wallet/take-back';
/** Path of the page that works offline, when no session can be started. */
const PAY_OFFLINE = 'wallet/pay-offline';

function Insecure(): ReactNode {
  return (
    <main className="sheet stack">
      <title>{t('wallet.page')}</title>
      <h1>{t('wallet.insecure.heading')}</h1>
      <p>{t('wallet.insecure.text')}</p>
    </main>
  );
}

export function Wallet(): ReactNode {
  const vault = useKept('vault');
  const session = useSession(vault);
  const pin = useKept('pin');
  const [location] = useLocation();
  // The app asks for a new PIN only from the next load on.
  const [unlocked, setUnlocked] = useState(() => kept('pin') === null);
  const [hasNewVersion, setHasNewVersion] = useState(false);
  useEffect(() => {
    void keepApp('wallet', () => setHasNewVersion(true));
  }, []);
  const current = location.slice(1);
  if (!canKeepKeys()) return <Insecure />;
  // A user who pays with another wallet has none here, but may still have contracts to compare.
  if (current === CONTRACTS) return <ContractsPage />;
  if (vault === null) return <Welcome />;
  if (pin !== null && !unlocked) {
    return <WalletLock vault={vault} pin={pin} onUnlock={() => setUnlocked(true)} />;
  }
  if (current === PAY_OFFLINE) return <PayOfflinePage vault={vault} />;
  if (current === TAKE_BACK) return <TakeBackPage vault={vault} />;
  if (session === null) return <SignInScreen key={vault.address} vault={vault} />;
  const Page = PAGES_BY_PATH[current] ?? HomePage;
  return (
    <SignedIn vault={vault} {...session}>
      <Frame network={session.network} current={current}>
        {hasNewVersion ? <Notice tone="info">{t('wallet.new_version')}</Notice> : null}
        <ContractsNotice network={session.network} />
        <Page />
        <Updates />
        <StaticPassToasts />
      </Frame>
    </SignedIn>
  );
}
