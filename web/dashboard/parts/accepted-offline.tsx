import type { ReactNode } from 'react';
import type { PaymentIntent } from '../../data/types/dashboard.ts';
import { Fact } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink } from './object-link.tsx';

/** Says that a till took the sale offline, and when, by its clock. */
export function AcceptedOffline({ offline }: Pick<PaymentIntent, 'offline'>): ReactNode {
  if (offline === null) return null;
  return (
    <Fact name={t('dashboard.offline.accepted.column')}>
      <Time at={offline.accepted_at} /> <ObjectLink id={offline.id} />
    </Fact>
  );
}
