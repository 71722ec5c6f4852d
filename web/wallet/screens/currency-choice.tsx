import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { Select } from '../../ui/field.tsx';
import { currencyName } from '../../ui/text/currency-name.ts';
import { t } from '../../ui/text/t.ts';
import { useHere } from '../wallet-context.tsx';
import { ratesQuery } from '../wallet-reads.ts';
import { keep, useKept } from '../wallet-storage.ts';

/** Chooses the currency in which sums are also shown, among those with a rate. */
export function CurrencyChoice(): ReactNode {
  const currency = useKept('currency');
  const rates = useQuery(ratesQuery(useHere())).data ?? [];
  const offered = new Set([
    ...rates.map((rate) => rate.currency),
    ...(currency === null ? [] : [currency]),
  ]);
  return (
    <Select
      data-name="Currency"
      label={t('wallet.settings.currency')}
      hint={t('wallet.settings.currency_text')}
      value={currency ?? ''}
      onChange={(event) => keep('currency', event.target.value || null)}
    >
      <option value="">{named(currencyName(null))}</option>
      {[...offered].sort().map((code) => (
        <option key={code} value={code}>
          {named(currencyName(code))}
        </option>
      ))}
    </Select>
  );
}
