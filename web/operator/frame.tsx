import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { canUsePasskeys } from '../data/passkey.ts';
import { useDesk } from '../desk/desk-context.ts';
import { FactorForm } from '../desk/factor-form.tsx';
import { withIcon } from '../desk/page-icon.tsx';
import { PasskeyAddress } from '../desk/passkey-address.tsx';
import { Button } from '../ui/button.tsx';
import { partOf } from '../ui/lazy-part.ts';
import { Page, Shell } from '../ui/shell.tsx';
import { PAGES } from './pages.ts';
import { RecoveryStrip } from './parts/recovery.tsx';

const TotpSetup = partOf(async () => (await import('../desk/totp-setup.tsx')).TotpSetup);

const AddPasskeyDialog = partOf(
  async () => (await import('../desk/passkey-dialog.tsx')).AddPasskeyDialog,
);

export function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  const [location, navigate] = useLocation();
  const { session } = useDesk();
  const current = location.slice(1);
  return (
    <Shell
      brand="Operator"
      pages={PAGES.map(withIcon)}
      current={current}
      onNavigate={(path) => navigate(`/${path}`)}
      foot={<Foot />}
    >
      {session.staff_role === 'support' ? (
        <p className="mode-strip">Read-only access: you can see everything and change nothing.</p>
      ) : null}
      {session.second_factor_at === null ? null : <RecoveryStrip />}
      {session.second_factor_at === null ? <FactorFirst current={current} /> : children}
    </Shell>
  );
}

function Foot(): ReactNode {
  const { session, signOut } = useDesk();
  return (
    <>
      <span className="soft">{session.user.email}</span>
      <Button data-name="Sign out" onClick={() => void signOut()}>
        Sign out
      </Button>
    </>
  );
}

/** Lets staff set up a second factor, without which they cannot see any data. */
function FactorFirst({ current }: { readonly current: string }): ReactNode {
  const page = PAGES.findLast(({ path }) => current === path || current.startsWith(`${path}/`));
  return (
    <Page title={page?.name ?? 'Operator'}>
      <section className="card stack">
        <ProveFactor />
      </section>
    </Page>
  );
}

function ProveFactor(): ReactNode {
  const { people, session, refresh } = useDesk();
  const [isAdding, setIsAdding] = useState(false);
  const { factors } = session.user;
  const done = () => void refresh();
  if (factors.first_choice !== null) {
    return (
      <>
        <h2>Confirm your second factor</h2>
        <FactorForm people={people} factors={factors} send="Confirm" onProven={done} />
      </>
    );
  }
  return (
    <>
      <h2>Set up a second factor first</h2>
      <p>The console opens only after you confirm one.</p>
      <TotpSetup asksPassword onDone={done} />
      {canUsePasskeys() ? (
        <div>
          <Button kind="quiet" onClick={() => setIsAdding(true)}>
            Use a passkey instead
          </Button>
        </div>
      ) : (
        <PasskeyAddress />
      )}
      {isAdding ? <AddPasskeyDialog onClose={() => setIsAdding(false)} /> : null}
    </>
  );
}
