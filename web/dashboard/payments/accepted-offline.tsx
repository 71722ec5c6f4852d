import type { ReactNode } from 'react';
import type { PaymentIntent } from '../../data/types/dashboard.ts';
import { Fact } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink } from './object-link.tsx';

/** Shows that a till took the sale offline, and when, by the till's clock. */
export function AcceptedOffline({ offline }: Pick<PaymentIntent, 'offline'>): ReactNode {
  if (offline === null) return null;
  return (
    <Fact name={t('dashboard.offline.accepted.column')}>
      <Time at={offline.accepted_at} /> <ObjectLink id={offline.id} />
    </Fact>
  );
}
