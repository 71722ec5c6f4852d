import type { ReactNode } from 'react';
import { CURRENCIES } from '#core/currencies.ts';
import { named } from '#i18n/bidi-isolates.ts';
import { ChangedMeanwhile } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { Choice } from '../../ui/choice.tsx';
import { Select } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { rateWords } from '../../ui/price-text.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { currencyName } from '../../ui/text/currency-name.ts';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { useMerchant, useRead } from '../use-merchant.ts';
import { type Account, type AccountProps, useSettingsForm } from './account-settings.ts';
import './shop.css';

function taxWords(isIncluded: boolean): string {
  return isIncluded ? t('dashboard.prices.tax_included') : t('dashboard.prices.tax_on_top');
}

export function ShopPrices({ account }: AccountProps): ReactNode {
  const { may } = useMerchant();
  return (
    <section className="card stack">
      <h2>{t('dashboard.prices.heading')}</h2>
      {may('admin') ? <PricesForm account={account} /> : <PriceFacts account={account} />}
      {account.currency === null ? null : <RateNow currency={account.currency} />}
    </section>
  );
}

function PriceFacts({ account }: AccountProps): ReactNode {
  return (
    <FactList>
      <Fact name={t('dashboard.prices.currency.label')}>
        {given(currencyName(account.currency))}
      </Fact>
      <Fact name={t('dashboard.prices.tax.label')}>{taxWords(account.prices_include_tax)}</Fact>
    </FactList>
  );
}

function pricesOf({ currency, prices_include_tax }: Account) {
  return { currency, prices_include_tax };
}

const FORM = {
  fields: ['currency', 'prices_include_tax'],
  valuesOf: pricesOf,
  changeOf: (values: ReturnType<typeof pricesOf>) => values,
};

function PricesForm({ account }: AccountProps): ReactNode {
  const { values, set, stored, isStale, sending, onSend } = useSettingsForm(account, FORM);
  return (
    <Form sending={sending} onSend={onSend} send={t('dashboard.prices.save.button')}>
      <ChangedMeanwhile isStale={isStale} />
      <Select
        label={t('dashboard.prices.currency.label')}
        value={values.currency ?? ''}
        onChange={({ target }) => set({ currency: target.value === '' ? null : target.value })}
        hint={
          stored('currency', () => currencyName(account.currency)) ??
          t('dashboard.prices.currency.hint')
        }
        error={sending.problemAt('currency')}
      >
        {[null, ...CURRENCIES].map((currency) => (
          <option key={currency} value={currency ?? ''}>
            {named(currencyName(currency))}
          </option>
        ))}
      </Select>
      <fieldset className="stack stack-tight shop-choices">
        <legend>{t('dashboard.prices.tax.label')}</legend>
        {[true, false].map((isIncluded) => (
          <Choice
            key={String(isIncluded)}
            name="prices-include-tax"
            value={String(isIncluded)}
            label={taxWords(isIncluded)}
            checked={values.prices_include_tax === isIncluded}
            onChange={() => set({ prices_include_tax: isIncluded })}
          />
        ))}
        <p className="field-hint">
          {stored('prices_include_tax', (value) => taxWords(value === true)) ??
            t('dashboard.prices.tax.hint')}
        </p>
      </fieldset>
    </Form>
  );
}

/** Placeholder that reserves the line, so that nothing moves when the rate arrives. */
const NOT_YET = '\u00a0';

/** Shows the current rate, or that tills cannot charge because there is none. */
function RateNow({ currency }: { readonly currency: string }): ReactNode {
  const { data, isFetching } = useRead('GET /accounts/{account}/{mode}/balance');
  const quoted = data?.presentment;
  const code = currency.toUpperCase();
  if (quoted === null && !isFetching) {
    return (
      <Notice tone="warn" role="status">
        <p>{t('dashboard.prices.no_rate', { currency: code })}</p>
      </Notice>
    );
  }
  const isKnown = quoted?.currency === currency;
  return (
    <p className="soft">
      {isKnown ? t('dashboard.prices.rate_now', { rate: rateWords(quoted) }) : NOT_YET}
    </p>
  );
}
