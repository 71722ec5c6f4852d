import type { ReactNode } from 'react';
import type { DashboardTerminal } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Status } from '../../ui/status.tsx';
import { useMerchant } from '../merchant.ts';

/** Whether the reader of this terminal reads Google Wallet. */
export function SmartTap({ terminal }: { readonly terminal: DashboardTerminal }): ReactNode {
  const { call, may } = useMerchant();
  const { id, smart_tap: isOn } = terminal;
  return (
    <section className="card stack">
      <div className="headline">
        <h2>Google Wallet</h2>
        <Status tone={isOn ? 'good' : 'plain'}>{isOn ? 'On' : 'Off'}</Status>
      </div>
      <p className="soft">
        With Smart Tap, a USB reader at this till reads passes that customers keep in Google Wallet.
        A change takes effect with the next tap.
      </p>
      {may('admin') ? (
        <div>
          <ActionButton
            request={() =>
              call('POST /accounts/{account}/{mode}/terminals/{id}/smart_tap', {
                path: { id },
                body: { enabled: !isOn },
              })
            }
          >
            {isOn ? 'Turn Smart Tap off' : 'Turn Smart Tap on'}
          </ActionButton>
        </div>
      ) : null}
    </section>
  );
}
