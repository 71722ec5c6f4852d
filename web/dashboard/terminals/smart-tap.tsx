import type { ReactNode } from 'react';
import type { DashboardTerminal } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Status } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';

export function SmartTap({ terminal }: { readonly terminal: DashboardTerminal }): ReactNode {
  const { call, may } = useMerchant();
  const { id, smart_tap: isOn } = terminal;
  return (
    <section className="card stack">
      <div className="headline">
        <h2>{t('dashboard.smart_tap.heading')}</h2>
        <Status tone={isOn ? 'good' : 'plain'}>
          {isOn ? t('dashboard.smart_tap.on') : t('dashboard.smart_tap.off')}
        </Status>
      </div>
      <p className="soft">{t('dashboard.smart_tap.text')}</p>
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
            {isOn
              ? t('dashboard.smart_tap.turn_smart_tap_off')
              : t('dashboard.smart_tap.turn_smart_tap_on')}
          </ActionButton>
        </div>
      ) : null}
    </section>
  );
}
