import { Fragment, type ReactNode, useState } from 'react';
import { LANGUAGE_NAMES, LANGUAGES } from '#i18n/languages.ts';
import type { Account } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, storedNow, useOpened } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { OwnAccess } from '../../desk/own-access.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Amount } from '../../ui/amount.tsx';
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
import { readSum, type TypedSum, writeSum } from '../../ui/typed-sum.ts';
import { readWhole } from '../../ui/whole-number.ts';
import { Brand } from '../account/brand-settings.tsx';
import { ShopPrices } from '../account/price-settings.tsx';
import { ReceiptSettings } from '../account/receipt-settings.tsx';
import { TaxRates } from '../account/tax-rate-settings.tsx';
import { NewAccountForm } from '../sessions/no-account.tsx';
import { useAccount, useMerchant } from '../use-merchant.ts';

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

/** Reads the typed daily limit and refund window. @returns the values, or the problem with them. */
function readLimits(typed: { readonly days: string; readonly limit: TypedSum }) {
  const days = readWhole(typed.days);
  const { limit } = typed;
  const wrong = (field: string, words: string) => ({ wrong: [field, words] as const });
  if (days === null) return wrong('refund_window_days', t('dashboard.settings.window_invalid'));
  if (limit.is !== 'sum') return wrong('refund_daily_limit', t('dashboard.settings.limit_invalid'));
  return { wrong: null, days, limit: limit.units };
}

function useLimit(stored: bigint) {
  const [wrote] = useState(stored);
  const [value, onText] = useState(() => writeSum(wrote));
  return { value, onText, sum: readSum(value, { wrote }), shows: true };
}

function formFields(account: Account) {
  const { name, requested_name, refund_window_days, refund_daily_limit } = account;
  const { time_zone, language } = account;
  return { name, requested_name, refund_window_days, refund_daily_limit, time_zone, language };
}

function useAccountForm(account: Account) {
  const { call } = useMerchant();
  const toast = useToast();
  const { isStale, setOpened } = useOpened(formFields(account));
  const wished = account.requested_name ?? account.name;
  const [name, setName] = useState(wished);
  const [days, setDays] = useState(String(account.refund_window_days));
  const limit = useLimit(BigInt(account.refund_daily_limit));
  const [timeZone, setTimeZone] = useState(account.time_zone);
  const [language, setLanguage] = useState(account.language);
  const sending = useSend([...FIELDS]);
  const save = async () => {
    const read = readLimits({ days, limit: limit.sum });
    if (read.wrong !== null) return sending.refuse(...read.wrong);
    const limits = { refund_window_days: read.days, refund_daily_limit: Number(read.limit) };
    const isRenamed = name.trim() !== wished;
    const texts = { ...(isRenamed && { name: name.trim() }), time_zone: timeZone.trim(), language };
    const body = { version: account.version, ...texts, ...limits };
    const saved = await sending.send(() => call('PATCH /accounts/{account}', { body }));
    if (saved === null) return;
    setOpened(formFields(saved));
    const isWaiting = saved.requested_name !== null && isRenamed;
    toast(t(isWaiting ? 'dashboard.settings.name_waits' : 'dashboard.settings.saved'));
  };
  const texts = { name, setName, days, setDays, timeZone, setTimeZone, language, setLanguage };
  return { ...texts, limit, sending, save, isStale };
}

function AccountForm({ account }: { readonly account: Account }): ReactNode {
  const form = useAccountForm(account);
  const { name, setName, days, setDays, timeZone, setTimeZone, limit, sending, save } = form;
  const { isStale } = form;
  const storedLimit = writeSum(BigInt(account.refund_daily_limit));
  const stored = (is: string, typed: string) => storedNow({ isStale, stored: is, typed });
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
        {...limit}
        hint={stored(storedLimit, limit.value) ?? t('dashboard.settings.limit_hint')}
        error={sending.problemAt('refund_daily_limit')}
      />
      <TimeZoneField
        value={timeZone}
        onChange={setTimeZone}
        stored={stored(account.time_zone, timeZone)}
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
  const { name, refund_window_days: days, refund_daily_limit: limit } = account;
  return (
    <>
      <p className="soft">{t('dashboard.settings.admin_only')}</p>
      <FactList>
        <Fact name={t('dashboard.field.business_name')}>{given(name)}</Fact>
        <Fact name={t('dashboard.settings.refund_window_days.label')}>{formatNumber(days)}</Fact>
        <Fact name={t('dashboard.settings.daily_refund_limit.label')}>
          <Amount atoms={BigInt(limit)} />
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

function TimeZoneField(props: StoredFieldProps<string>): ReactNode {
  return (
    <>
      <TextField
        label={t('dashboard.settings.time_zone.label')}
        list="time-zones"
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
        hint={props.stored ?? t('dashboard.settings.time_zone_hint')}
        error={props.error}
      />
      <datalist id="time-zones">
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
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
