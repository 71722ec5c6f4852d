import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { useDesk } from '../desk/desk-context.ts';
import { partOf } from '../ui/lazy-part.ts';
import { MerchantContext, type Mode } from './use-merchant.ts';

const NoAccount = partOf(async () => (await import('./sessions/no-account.tsx')).NoAccount);

const CashierPlace = partOf(
  async () => (await import('./sessions/cashier-only-page.tsx')).CashierPlace,
);

const MODE = 'tapline dashboard mode';
const ACCOUNT = 'tapline dashboard account';

/**
 * Provides the account and the mode, which is test by default. The choice is stored in this
 * browser.
 */
export function MerchantPlace({ children }: { readonly children: ReactNode }): ReactNode {
  const { session } = useDesk();
  const [mode, setKeptMode] = useState<Mode>(() =>
    localStorage.getItem(MODE) === 'live' ? 'live' : 'test',
  );
  const [chosen, setChosen] = useState(() => localStorage.getItem(ACCOUNT));
  const setMode = useCallback((next: Mode) => {
    localStorage.setItem(MODE, next);
    setKeptMode(next);
  }, []);
  const setAccount = useCallback((id: string) => {
    localStorage.setItem(ACCOUNT, id);
    setChosen(id);
  }, []);
  const { accounts } = session;
  const account = accounts.find(({ id }) => id === chosen) ?? accounts[0];
  const value = useMemo(
    () => (account === undefined ? null : { account, mode, setMode, setAccount }),
    [account, mode, setMode, setAccount],
  );
  if (value === null) return <NoAccount onMade={setAccount} />;
  if (value.account.role === 'cashier') {
    return <CashierPlace {...value} />;
  }
  return <MerchantContext value={value}>{children}</MerchantContext>;
}
