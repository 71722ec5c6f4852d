import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useDesk } from '../desk/desk-context.ts';
import { withIcon } from '../desk/page-icon.tsx';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/choice.tsx';
import { Shell } from '../ui/shell.tsx';
import { t } from '../ui/text/t.ts';
import { AccountTimes } from '../ui/time.tsx';
import { useKnownTimeZone } from './account/time-zone.ts';
import { pages } from './pages.ts';
import { GoTo } from './payments/search-box.tsx';
import { AccountChoice } from './sessions/account-choice.tsx';
import { useMerchant } from './use-merchant.ts';

export function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  const [location, navigate] = useLocation();
  const { account, mode, setAccount } = useMerchant();
  const isTest = mode === 'test';
  const timeZone = useKnownTimeZone();
  return (
    <Shell
      brand={t('dashboard.brand')}
      pages={pages().map(withIcon)}
      current={location.slice(1)}
      onNavigate={(path) => navigate(`/${path}`)}
      badge={
        isTest ? (
          <span className="test-chip" title={t('dashboard.test_chip.title')}>
            {t('dashboard.test_chip')}
          </span>
        ) : null
      }
      head={<AccountChoice {...{ account, setAccount }} />}
      foot={<Foot />}
    >
      {isTest ? <div className="test-line unprinted" /> : null}
      <AccountTimes timeZone={timeZone}>{children}</AccountTimes>
    </Shell>
  );
}

function Foot(): ReactNode {
  const { session, signOut } = useDesk();
  const { mode, setMode } = useMerchant();
  const { user } = session;
  return (
    <>
      <GoTo />
      <Switch
        data-name="Test mode"
        label={t('dashboard.test_mode')}
        checked={mode === 'test'}
        onChange={(isTest) => setMode(isTest ? 'test' : 'live')}
      />
      <span className="soft shell-who">{user.email}</span>
      <Button data-name="Sign out" onClick={() => void signOut()}>
        {t('dashboard.sign_out')}
      </Button>
    </>
  );
}
