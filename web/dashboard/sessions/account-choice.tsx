import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { useDesk } from '../../desk/desk-context.ts';
import { Select } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import type { MerchantPlace } from '../use-merchant.ts';

export function AccountChoice({
  account,
  setAccount,
}: Pick<MerchantPlace, 'account' | 'setAccount'>): ReactNode {
  const { accounts } = useDesk().session;
  if (accounts.length < 2) {
    return (
      <strong>
        <bdi>{account.name}</bdi>
      </strong>
    );
  }
  return (
    <Select
      label={t('dashboard.account')}
      value={account.id}
      onChange={(event) => setAccount(event.target.value)}
    >
      {accounts.map(({ id, name }) => (
        <option key={id} value={id}>
          {named(name)}
        </option>
      ))}
    </Select>
  );
}
