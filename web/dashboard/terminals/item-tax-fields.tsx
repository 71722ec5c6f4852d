import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { storedNow } from '../../desk/concurrent-change.tsx';
import { Choice } from '../../ui/choice.tsx';
import { Select } from '../../ui/field.tsx';
import { rateText } from '../../ui/percent.ts';
import { PercentField } from '../../ui/percent-field.tsx';
import { t } from '../../ui/text/t.ts';
import type { Account } from '../account/account-settings.ts';

type Rates = Account['tax_rates'];

/** Returns the most likely rate for a new item: the last item's rate, or the shop's first. */
export function usualRate(account: Account, items: readonly { readonly tax_rate: number }[]) {
  return items.at(-1)?.tax_rate ?? account.tax_rates[0]?.rate ?? 0;
}

export interface TaxFieldsProps {
  readonly rates: Rates;
  /** A rate to offer although the account has no name for it. */
  readonly also: number | null;
  /** The chosen basis points as text, or `other`. */
  readonly rate: string;
  readonly setRate: (rate: string) => void;
  /** The typed percentage of `other`. */
  readonly otherRate: string;
  readonly setOtherRate: (text: string) => void;
  /** The typed rate in basis points; `null` if the percentage is invalid. */
  readonly points: number | null;
  readonly isWithin: boolean;
  readonly setIsWithin: (isWithin: boolean) => void;
  /** The rate that another user has stored since the form was opened. */
  readonly storedRate: number | null;
  readonly error: string | null;
}

export function TaxFields(props: TaxFieldsProps): ReactNode {
  const { rate, otherRate, setOtherRate, points, isWithin, setIsWithin, error } = props;
  return (
    <>
      <RateSelect {...props} />
      {rate === 'other' ? (
        <PercentField
          label={t('dashboard.catalog.tax.own')}
          value={otherRate}
          onText={setOtherRate}
          hint={t('dashboard.tax_rates.rate.hint')}
          error={error}
        />
      ) : null}
      {points === 0 ? null : (
        <Choice
          name="tax-inclusive"
          value="yes"
          type="checkbox"
          label={t('dashboard.catalog.tax.within')}
          checked={isWithin}
          onChange={setIsWithin}
        />
      )}
    </>
  );
}

function rateWords(rates: Rates, rate: number): string {
  const names = rates.filter((one) => one.rate === rate).map(({ name }) => name);
  if (names.length > 0) return named([names.join(', '), rateText(rate)].join(' · '));
  return rate === 0 ? t('dashboard.catalog.tax.none') : named(rateText(rate));
}

/** Lets the user choose one of the shop's tax rates, no tax, or another rate. */
function RateSelect(props: TaxFieldsProps): ReactNode {
  const { rates, also, rate, setRate, otherRate, points, storedRate, error } = props;
  const isOther = rate === 'other';
  const usual = new Set([...rates.map((one) => one.rate), ...(also === null ? [] : [also]), 0]);
  // Also offers the rate that a new item copies from the last one, which may have no name.
  const offered = isOther ? usual : new Set([...usual, Number(rate)]);
  const stored = storedNow({
    isStale: storedRate !== null,
    stored: rateText(storedRate ?? 0),
    typed: points === null ? otherRate : rateText(points),
  });
  return (
    <Select
      label={t('dashboard.catalog.tax.label')}
      value={rate}
      onChange={({ target }) => setRate(target.value)}
      hint={stored ?? t('dashboard.catalog.tax.hint')}
      error={isOther ? null : error}
    >
      {[...offered].map((one) => (
        <option key={one} value={one}>
          {rateWords(rates, one)}
        </option>
      ))}
      <option value="other">{t('dashboard.catalog.tax.other')}</option>
    </Select>
  );
}
