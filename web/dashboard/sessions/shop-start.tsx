import { type ReactNode, useEffect, useState } from 'react';
import { CURRENCIES } from '#core/currencies.ts';
import { named } from '#i18n/bidi-isolates.ts';
import { countriesByName } from '../../desk/countries.ts';
import { Select } from '../../ui/field.tsx';
import { currencyName } from '../../ui/text/currency-name.ts';
import { t } from '../../ui/text/t.ts';
import { ZONES, ZoneSelect } from '../account/zone-select.tsx';
import { currencyOf } from './currency-of-country.ts';

/** The shop's settings that a sign-up sends. The country only proposes them. */
export interface ShopStart {
  readonly currency?: string | null;
  readonly time_zone?: string;
}

/** Returns the region of the browser's first language: its own, or where most people speak it. */
function browserRegion(): string {
  try {
    return new Intl.Locale(navigator.language).maximize().region ?? '';
  } catch {
    return '';
  }
}

function browserZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return ZONES.includes(timeZone) ? timeZone : 'UTC';
}

export interface ShopStartFieldsProps {
  readonly onShop: (shop: ShopStart) => void;
  readonly problemAt: (field: string) => string | null;
}

/** Asks for country, currency and time zone, as the browser proposes them. None is required. */
export function ShopStartFields({ onShop, problemAt }: ShopStartFieldsProps): ReactNode {
  const [country, setCountry] = useState(browserRegion);
  const [zone, setZone] = useState(browserZone);
  // A browser in UTC is rarely in a shop, so that it proposes no currency.
  const [currency, setCurrency] = useState(() => (zone === 'UTC' ? null : currencyOf(country)));
  useEffect(() => onShop({ currency, time_zone: zone }), [onShop, currency, zone]);
  return (
    <>
      <Select
        data-name="Country"
        label={t('dashboard.business.country')}
        value={country}
        onChange={({ target }) => {
          setCountry(target.value);
          setCurrency(currencyOf(target.value));
        }}
      >
        <option value="">{t('dashboard.verification.choose_a_country.option')}</option>
        {countriesByName().map(({ code, name }) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </Select>
      <Select
        data-name="Currency"
        label={t('dashboard.outside.sign_up.currency')}
        value={currency ?? ''}
        onChange={({ target }) => setCurrency(target.value === '' ? null : target.value)}
        hint={t('dashboard.prices.currency.hint')}
        error={problemAt('currency')}
      >
        {[null, ...CURRENCIES].map((one) => (
          <option key={one} value={one ?? ''}>
            {named(currencyName(one))}
          </option>
        ))}
      </Select>
      <ZoneSelect value={zone} onZone={setZone} error={problemAt('time_zone')} />
    </>
  );
}
