import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { ChangedMeanwhile } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { formatNumber, percentText } from '../../ui/numbers.ts';
import { rateText } from '../../ui/percent.ts';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { plainText } from '../../ui/typed-sum.ts';
import { useMerchant } from '../use-merchant.ts';
import { type Account, type AccountProps, useSettingsForm } from './account-settings.ts';

/** The tips that a till offers unless the account has its own. */
const USUAL = [10, 15, 20];

/** Settings of all tills: the tips that they offer, and the tax rate of a keypad sale. */
export function TillSettings({ account }: AccountProps): ReactNode {
  const { may } = useMerchant();
  return (
    <section className="card stack">
      <h2>{t('dashboard.till_settings.heading')}</h2>
      {may('admin') ? <TillForm account={account} /> : <TillFacts account={account} />}
    </section>
  );
}

function tipsText(percentages: readonly number[] | null): string {
  return (percentages ?? USUAL).map((percentage) => formatNumber(percentage)).join(', ');
}

/** Returns the typed percentages; the service refuses others than 1 to 3 from 1 to 50. */
function readTips(text: string): number[] | null {
  const parts = plainText(text)
    .split(/[\s,;%٪]+/)
    .filter((part) => part !== '');
  return parts.length === 0 ? null : parts.map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
}

function TillFacts({ account }: AccountProps): ReactNode {
  const { tip_percentages: tips, default_tax_rate: rate } = account;
  return (
    <FactList>
      <Fact name={t('dashboard.till_settings.tips.label')}>{percentText(tipsText(tips))}</Fact>
      <Fact name={t('dashboard.till_settings.tax_rate.label')}>
        {rate === null ? t('dashboard.till_settings.no_tax_rate') : given(rate)}
      </Fact>
    </FactList>
  );
}

function valuesOf({ tip_percentages, default_tax_rate }: Account) {
  return { tips: tipsText(tip_percentages), default_tax_rate };
}

const FORM = {
  fields: ['tip_percentages', 'default_tax_rate'],
  valuesOf,
  changeOf: ({ tips, default_tax_rate }: ReturnType<typeof valuesOf>) => ({
    tip_percentages: readTips(tips),
    default_tax_rate,
  }),
};

function TillForm({ account }: AccountProps): ReactNode {
  const { values, set, stored, isStale, sending, onSend } = useSettingsForm(account, FORM);
  const noRate = t('dashboard.till_settings.no_tax_rate');
  const isTipsWrong = sending.problemAt('tip_percentages') !== null || isWrong(values.tips);
  return (
    <Form
      sending={sending}
      onSend={() => (isWrong(values.tips) ? Promise.resolve() : onSend())}
      send={t('desk.button.save')}
      data-name="Save till settings"
    >
      <ChangedMeanwhile isStale={isStale} />
      <TextField
        label={t('dashboard.till_settings.tips.label')}
        value={values.tips}
        onChange={({ target }) => set({ tips: target.value })}
        hint={stored('tips') ?? t('dashboard.till_settings.tips.hint')}
        error={isTipsWrong ? t('dashboard.till_settings.tips.invalid') : null}
      />
      <Select
        label={t('dashboard.till_settings.tax_rate.label')}
        value={values.default_tax_rate ?? ''}
        onChange={({ target }) =>
          set({ default_tax_rate: target.value === '' ? null : target.value })
        }
        hint={
          stored('default_tax_rate', (value) => value ?? noRate) ??
          t('dashboard.till_settings.tax_rate.hint')
        }
        error={sending.problemAt('default_tax_rate')}
      >
        <option value="">{noRate}</option>
        {account.tax_rates.map(({ name, rate }) => (
          <option key={name} value={name}>
            {named(`${name} · ${rateText(rate)}`)}
          </option>
        ))}
      </Select>
    </Form>
  );
}

function isWrong(text: string): boolean {
  const tips = readTips(text);
  if (tips === null) return false;
  return tips.length > 3 || tips.some((tip) => tip < 1 || tip > 50);
}
