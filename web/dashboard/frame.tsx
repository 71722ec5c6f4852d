import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useDesk } from '../desk/desk-context.ts';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/choice.tsx';
import { Select } from '../ui/field.tsx';
import { Shell } from '../ui/shell.tsx';
import { useMerchant } from './merchant.ts';
import { PAGES } from './pages.ts';
import { GoTo } from './parts/go-to.tsx';

/** Navigation, which account, which mode, who is signed in. */
export function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  const [location, navigate] = useLocation();
  const { mode } = useMerchant();
  return (
    <Shell
      brand="Dashboard"
      pages={PAGES}
      current={location.slice(1)}
      onNavigate={(path) => navigate(`/${path}`)}
      foot={<Foot />}
    >
      {mode === 'test' ? <p className="mode-strip">Test mode: no real money moves here.</p> : null}
      {children}
    </Shell>
  );
}

function Foot(): ReactNode {
  const { session, signOut } = useDesk();
  const { account, mode, setMode, setAccount } = useMerchant();
  const { accounts, user } = session;
  return (
    <>
      <GoTo />
      {accounts.length > 1 ? (
        <Select
          label="Account"
          value={account.id}
          onChange={(event) => setAccount(event.target.value)}
        >
          {accounts.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      ) : (
        <strong>{account.name}</strong>
      )}
      <Switch
        label="Test mode"
        checked={mode === 'test'}
        onChange={(isTest) => setMode(isTest ? 'test' : 'live')}
      />
      <span className="soft shell-who">{user.email}</span>
      <Button onClick={() => void signOut()}>Sign out</Button>
    </>
  );
}
