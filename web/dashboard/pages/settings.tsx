import { Fragment, type ReactNode, useState } from 'react';
import { LANGUAGE_NAMES, LANGUAGES } from '#i18n/languages.ts';
import type { Account } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, storedNow, useOpened } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { OwnAccess } from '../../desk/own-access.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { LanguageChoice } from '../../ui/language-choice.tsx';
import { formatNumber } from '../../ui/numbers.ts';
import { Page } from '../../ui/shell.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { offeredLanguages } from '../../ui/text/switch-language.ts';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { useToast } from '../../ui/toast.tsx';
import { readWhole } from '../../ui/whole-number.ts';
import { BooksSettings } from '../account/books-settings.tsx';
import { Brand } from '../account/brand-settings.tsx';
import { DiscountSettings } from '../account/discount-settings.tsx';
import { limitFact, type StoredLimit, useLimitField, useShopNow } from '../account/limit-field.tsx';
import { ShopPrices } from '../account/price-settings.tsx';
import { ReceiptSettings } from '../account/receipt-settings.tsx';
import { TaxRates } from '../account/tax-rate-settings.tsx';
import { TillSettings } from '../account/till-settings.tsx';
import { ZoneSelect } from '../account/zone-select.tsx';
import { NewAccountForm } from '../sessions/no-account.tsx';
import { useAccount, useMerchant } from '../use-merchant.ts';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { RiskRules } from './risk-rules.tsx';

export function Settings(): ReactNode {
  const query = useAccount();
  const { may, setAccount } = useMerchant();
  const [isOpening, setIsOpening] = useState(false);
  return (
    <Page title={t('dashboard.page.settings')}>
      <LoadTogether>
        <Loaded query={query}>
          {(account) => (
            <Fragment key={account.id}>
              <section className="card stack">
                <h2>{t('dashboard.settings.account.heading')}</h2>
                <CopyField label={t('dashboard.settings.account_id.label')} value={account.id} />
                {may('admin') ? (
                  <AccountForm account={account} />
                ) : (
                  <AccountFacts account={account} />
                )}
              </section>
              <ShopPrices account={account} />
              <TaxRates account={account} />
              <DiscountSettings account={account} />
              <TillSettings account={account} />
              <BooksSettings account={account} />
              <ReceiptSettings account={account} />
              <Brand name={account.name} />
            </Fragment>
          )}
        </Loaded>
        <OwnAccess />
        <OwnLanguage />
        <section className="card stack">
          <h2>{t('dashboard.settings.another_business.heading')}</h2>
          <p className="soft">{t('dashboard.settings.another.text')}</p>
          <div>
            <Button onClick={() => setIsOpening(true)}>
              {t('dashboard.settings.open_another_account.button')}
            </Button>
          </div>
        </section>
        {isOpening ? (
          <Dialog
            title={t('dashboard.settings.another_account.heading')}
            onClose={() => setIsOpening(false)}
          >
            <NewAccountForm
              onMade={(made) => {
                setAccount(made);
                setIsOpening(false);
              }}
              onCancel={() => setIsOpening(false)}
            />
          </Dialog>
        ) : null}
      </LoadTogether>
    </Page>
  );
}

const FIELDS = [
  'name',
  'refund_window_days',
  'refund_daily_limit',
  'till_refund_limit',
  'time_zone',
  'language',
] as const;

/** The language of this browser. Hidden if the service has only one. */
function OwnLanguage(): ReactNode {
  if (offeredLanguages().length < 2) return null;
  return (
    <section className="card stack">
      <h2>{t('dashboard.settings.own_language.heading')}</h2>
      <p className="soft">{t('dashboard.settings.own_language.text')}</p>
      <LanguageChoice />
    </section>
  );
}

type LimitName = 'refund_daily_limit' | 'till_refund_limit';

function limitOf(account: Account, name: LimitName): StoredLimit {
  return { atoms: account[name], presentment: account[`${name}_presentment`] };
}

type LimitForm = ReturnType<typeof useLimitField>;

/** Returns the field of the API for a limit that the user has changed. */
function changedLimit(name: LimitName, { isUntouched, input }: LimitForm) {
  return isUntouched || input == null ? {} : { [name]: input };
}

function formFields(account: Account) {
  const { name, requested_name, refund_window_days, time_zone, language } = account;
  const limits = [limitOf(account, 'refund_daily_limit'), limitOf(account, 'till_refund_limit')];
  return { name, requested_name, refund_window_days, limits, time_zone, language };
}

function useAccountForm(account: Account) {
  const { call } = useMerchant();
  const toast = useToast();
  const { isStale, setOpened } = useOpened(formFields(account));
  const wished = account.requested_name ?? account.name;
  const [name, setName] = useState(wished);
  const [days, setDays] = useState(String(account.refund_window_days));
  const daily = useLimitField(limitOf(account, 'refund_daily_limit'));
  const till = useLimitField(limitOf(account, 'till_refund_limit'));
  const [timeZone, setTimeZone] = useState(account.time_zone);
  const [language, setLanguage] = useState(account.language);
  const sending = useSend([...FIELDS]);
  const save = async () => {
    const refundDays = readWhole(days);
    if (refundDays === null) {
      return sending.refuse('refund_window_days', t('dashboard.settings.window_invalid'));
    }
    const invalid = t('dashboard.settings.limit_invalid');
    if (daily.input == null) return sending.refuse('refund_daily_limit', invalid);
    if (till.input == null) return sending.refuse('till_refund_limit', invalid);
    const limits = {
      refund_window_days: refundDays,
      ...changedLimit('refund_daily_limit', daily),
      ...changedLimit('till_refund_limit', till),
    };
    const isRenamed = name.trim() !== wished;
    const texts = { ...(isRenamed && { name: name.trim() }), time_zone: timeZone, language };
    const body = { version: account.version, ...texts, ...limits };
    const saved = await sending.send(() => call('PATCH /accounts/{account}', { body }));
    if (saved === null) return;
    setOpened(formFields(saved));
    const isWaiting = saved.requested_name !== null && isRenamed;
    toast(t(isWaiting ? 'dashboard.settings.name_waits' : 'dashboard.settings.saved'));
  };
  const texts = { name, setName, days, setDays, timeZone, setTimeZone, language, setLanguage };
  return { ...texts, daily, till, sending, save, isStale };
}

function AccountForm({ account }: { readonly account: Account }): ReactNode {
  const form = useAccountForm(account);
  const { name, setName, days, setDays, timeZone, setTimeZone, daily, till, sending, save } = form;
  const { isStale } = form;
  const stored = (is: string, typed: string) => storedNow({ isStale, stored: is, typed });
  const storedLimit = (name: LimitName, { textOf, field }: LimitForm) =>
    stored(textOf(limitOf(account, name)), field.value);
  return (
    <Form sending={sending} onSend={save} send={t('desk.button.save')}>
      <ChangedMeanwhile isStale={isStale} />
      <TextField
        label={t('dashboard.field.business_name')}
        value={name}
        onChange={(event) => setName(event.target.value)}
        hint={
          nameHint(account) ?? stored(account.name, name) ?? t('dashboard.field.business_name_hint')
        }
        error={sending.problemAt('name')}
      />
      <TextField
        label={t('dashboard.settings.refund_window_days.label')}
        inputMode="numeric"
        value={days}
        onChange={(event) => setDays(event.target.value)}
        hint={
          stored(String(account.refund_window_days), days) ?? t('dashboard.settings.window_hint')
        }
        error={sending.problemAt('refund_window_days')}
      />
      <SumField
        label={t('dashboard.settings.daily_refund_limit.label')}
        {...daily.field}
        hint={storedLimit('refund_daily_limit', daily) ?? t('dashboard.settings.limit_hint')}
        error={sending.problemAt('refund_daily_limit')}
      />
      <SumField
        label={t('dashboard.settings.till_refund_limit.label')}
        {...till.field}
        hint={
          storedLimit('till_refund_limit', till) ?? t('dashboard.settings.till_refund_limit.hint')
        }
        error={sending.problemAt('till_refund_limit')}
      />
      <ZoneSelect
        value={timeZone}
        onZone={setTimeZone}
        hint={stored(account.time_zone, timeZone) ?? t('dashboard.settings.time_zone_hint')}
        error={sending.problemAt('time_zone')}
      />
      <LanguageField
        value={form.language}
        onChange={form.setLanguage}
        stored={stored(languageName(account.language), languageName(form.language))}
        error={sending.problemAt('language')}
      />
    </Form>
  );
}

/** Shows the settings to users who may not change them. */
function AccountFacts({ account }: { readonly account: Account }): ReactNode {
  const { name, refund_window_days: days } = account;
  const shop = useShopNow();
  return (
    <>
      <p className="soft">{t('dashboard.settings.admin_only')}</p>
      <FactList>
        <Fact name={t('dashboard.field.business_name')}>{given(name)}</Fact>
        <Fact name={t('dashboard.settings.refund_window_days.label')}>{formatNumber(days)}</Fact>
        <Fact name={t('dashboard.settings.daily_refund_limit.label')}>
          {limitFact(limitOf(account, 'refund_daily_limit'), shop)}
        </Fact>
        <Fact name={t('dashboard.settings.time_zone.label')}>{given(account.time_zone)}</Fact>
        <Fact name={t('dashboard.settings.language.label')}>{languageName(account.language)}</Fact>
      </FactList>
    </>
  );
}

/** Explains that a verified business keeps its name until the operator has approved the new one. */
function nameHint({ name, requested_name: requestedName }: Account): string | null {
  if (requestedName === null) return null;
  return t('dashboard.settings.name_asked', { name, asked: requestedName });
}

type Language = Account['language'];

interface StoredFieldProps<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** The values that another user has stored since the form was opened. */
  readonly stored: ReturnType<typeof storedNow>;
  readonly error: ReturnType<ReturnType<typeof useSend>['problemAt']>;
}

function languageName(language: Language): string {
  return language === null ? t('dashboard.settings.language.none') : LANGUAGE_NAMES[language];
}

/** The language for customers whose browsers request no language that the service has. */
function LanguageField(props: StoredFieldProps<Language>): ReactNode {
  return (
    <Select
      label={t('dashboard.settings.language.label')}
      value={props.value ?? ''}
      onChange={({ target }) =>
        props.onChange(LANGUAGES.find((one) => one === target.value) ?? null)
      }
      hint={props.stored ?? t('dashboard.settings.language.hint')}
      error={props.error}
    >
      <option value="">{languageName(null)}</option>
      {LANGUAGES.map((language) => (
        <option key={language} value={language} lang={language} translate="no">
          {languageName(language)}
        </option>
      ))}
    </Select>
  );
}
