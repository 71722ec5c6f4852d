import { type ChangeEvent, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { toMinorUnits } from '#core/currency-conversion.ts';
import type {
  DashboardTerminal as Terminal,
  UpdateTerminalBody,
} from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, storedNow, useOpened } from '../../desk/concurrent-change.tsx';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatMoney, sumRules } from '../../ui/format-price.ts';
import { Notice } from '../../ui/notice.tsx';
import { formatNumber } from '../../ui/numbers.ts';
import { rateText, readPercent, writePercent } from '../../ui/percent.ts';
import { PercentField } from '../../ui/percent-field.tsx';
import { Status } from '../../ui/status.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t, textLocale } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { readSum, sumIn, type TypedSum, writeSum } from '../../ui/typed-sum.ts';
import { readWhole } from '../../ui/whole-number.ts';
import { useMerchant, useRead } from '../use-merchant.ts';

type Limits = NonNullable<Terminal['offline']>;
type LimitsInput = NonNullable<UpdateTerminalBody['offline']>;

interface OfflineLimitsProps {
  readonly terminal: Terminal;
}

/** Shows how much a till may accept offline. Admins set it, with a fresh second factor. */
export function OfflineLimits({ terminal }: OfflineLimitsProps): ReactNode {
  const { may } = useMerchant();
  const { offline } = terminal;
  return (
    <section className="card stack">
      <h2>{t('dashboard.page.offline_sales')}</h2>
      {offline === null ? (
        <p className="soft">{t('dashboard.offline.off')}</p>
      ) : (
        <Facts limits={offline} />
      )}
      <p>
        <Link href={`/dashboard/offline-payments?terminal=${terminal.id}`}>
          {t('dashboard.offline.view.link')}
        </Link>
      </p>
      {may('admin') ? (
        <div>
          <DialogButton data-name="Offline sales" words={t('dashboard.page.offline_sales')}>
            {(close) => <LimitsDialog terminal={terminal} onClose={close} />}
          </DialogButton>
        </div>
      ) : null}
    </section>
  );
}

function Facts({ limits }: { readonly limits: Limits }): ReactNode {
  const sum = (field: SumName) => <LimitSum limits={limits} field={field} />;
  return (
    <FactList>
      <Fact name={t('dashboard.field.status')}>
        <Status tone="good">{t('dashboard.offline.on')}</Status>
      </Fact>
      <Fact name={t('dashboard.offline.per_payment.label')}>{sum('per_payment')}</Fact>
      <Fact name={t('dashboard.offline.per_card_per_day.label')}>{sum('per_card_per_day')}</Fact>
      <Fact name={t('dashboard.offline.total.label')}>{sum('total')}</Fact>
      <Fact name={t('dashboard.offline.count.label')}>{formatNumber(limits.count)}</Fact>
      <Fact name={t('dashboard.offline.hours.label')}>{formatNumber(limits.hours)}</Fact>
      <Fact name={t('dashboard.offline.margin.label')}>{rateText(limits.rate_margin)}</Fact>
    </FactList>
  );
}

function LimitSum({
  limits,
  field,
}: {
  readonly limits: Limits;
  readonly field: SumName;
}): ReactNode {
  const { presentment } = limits;
  if (presentment === null) return <Amount atoms={BigInt(limits[field])} />;
  return <span>{formatMoney(BigInt(presentment[field]), presentment.currency)}</span>;
}

/** Maximum validity of an authorization that the service accepts. */
const MAX_HOURS = 72;
/** The proposed limits of a café: the sums in USDC, which the shop's currency then rounds. */
const PROPOSED = {
  per_payment: 50_000_000n,
  per_card_per_day: 100_000_000n,
  total: 500_000_000n,
  count: 50,
  hours: 24,
  rate_margin: 100,
} as const;

const SUMS = ['per_payment', 'per_card_per_day', 'total'] as const;
type SumName = (typeof SUMS)[number];
const FIELDS = [...SUMS, 'count', 'hours', 'rate_margin'] as const;
type Field = (typeof FIELDS)[number];
type Texts = Readonly<Record<Field, string>>;

/** The shop's currency, with the rate by which its proposed limits are rounded. */
type ShopCurrency = { readonly currency: string; readonly rate: string } | null;

/** Returns the round sum (1, 2 or 5 and zeros) that is nearest to this worth. */
function roundSum(worth: bigint): bigint {
  const power = 10n ** BigInt(String(worth).length - 1);
  const rounds = [1n, 2n, 5n, 10n].map((digit) => digit * power);
  const ratio = (sum: bigint) => Math.abs(Math.log(Number(sum) / Number(worth)));
  return rounds.reduce((best, sum) => (ratio(sum) < ratio(best) ? sum : best));
}

function proposedSum(field: SumName, shop: ShopCurrency): bigint {
  const atoms = PROPOSED[field];
  return shop === null ? atoms : roundSum(BigInt(toMinorUnits(atoms, shop)) || 1n);
}

/** Returns a stored limit in the unit in which it was set. */
function storedSum(limits: Limits, field: SumName): bigint {
  return BigInt((limits.presentment ?? limits)[field]);
}

function textsOf(limits: Limits | null, shop: ShopCurrency): Texts {
  const rules = sumRules(limits === null ? (shop?.currency ?? null) : unitOf(limits));
  const sum = (field: SumName) =>
    writeSum(limits === null ? proposedSum(field, shop) : storedSum(limits, field), rules);
  const { count, hours, rate_margin: margin } = limits ?? PROPOSED;
  return {
    per_payment: sum('per_payment'),
    per_card_per_day: sum('per_card_per_day'),
    total: sum('total'),
    count: String(count),
    hours: String(hours),
    rate_margin: writePercent(margin),
  };
}

function unitOf({ presentment }: Limits): string | null {
  return presentment?.currency ?? null;
}

function readCount(text: string): number | null {
  return readWhole(text) || null;
}

type Sums = Readonly<Record<SumName, TypedSum>>;

/** Returns the limits, or the first invalid field and the reason. */
function readLimits(
  { sums, texts }: { readonly sums: Sums; readonly texts: Texts },
  currency: string | null,
): LimitsInput | readonly [Field, string] {
  const values: Partial<Record<SumName, number>> = {};
  for (const field of SUMS) {
    const units = sumIn(sums[field]);
    if (units === null) return [field, t('dashboard.offline.sum.missing')];
    values[field] = Number(units);
  }
  const count = readCount(texts.count);
  if (count === null) return ['count', t('dashboard.offline.count.invalid')];
  const hours = readCount(texts.hours);
  if (hours === null || hours > MAX_HOURS) return ['hours', t('dashboard.offline.hours.invalid')];
  const margin = readPercent(texts.rate_margin);
  if (margin === null || margin > MAX_MARGIN) {
    return ['rate_margin', t('dashboard.offline.margin.invalid')];
  }
  const rest = { count, hours, rate_margin: margin };
  const all = values as Record<SumName, number>;
  return currency === null ? { ...all, ...rest } : { presentment: { currency, ...all }, ...rest };
}

/** The highest margin in basis points. */
const MAX_MARGIN = 1_000;

function useLimits({ terminal, shop }: OfflineFormProps, onClose: () => void) {
  const { call } = useMerchant();
  const toast = useToast();
  const stored = terminal.offline;
  const [opened] = useState(stored);
  const { isStale } = useOpened(stored);
  const [texts, setTexts] = useState(() => textsOf(opened, shop));
  const sending = useSend([...FIELDS]);
  const save = async (offline: LimitsInput | null) => {
    const body = { version: terminal.version, offline };
    const path = { id: terminal.id };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/terminals/{id}', { path, body }),
    );
    if (saved === null) return;
    toast(t('dashboard.settings.saved'));
    onClose();
  };
  const currency = opened === null ? (shop?.currency ?? null) : unitOf(opened);
  const sumOf = (field: SumName) =>
    readSum(texts[field], {
      ...sumRules(currency),
      wrote: opened === null ? proposedSum(field, shop) : storedSum(opened, field),
    });
  const sums = {
    per_payment: sumOf('per_payment'),
    per_card_per_day: sumOf('per_card_per_day'),
    total: sumOf('total'),
  };
  return {
    ...{ texts, sums, sending, isStale, currency },
    set: (field: Field, text: string) => setTexts({ ...texts, [field]: text }),
    /** The limits that another user has saved since the form was opened. */
    storedAt: (field: Field) =>
      storedNow({ isStale, stored: textsOf(stored, shop)[field], typed: texts[field] }),
    turnOff: () => save(null),
    save: () => {
      const limits = readLimits({ sums, texts }, currency);
      if ('count' in limits) return save(limits);
      sending.refuse(...limits);
    },
  };
}

interface OfflineFormProps extends OfflineLimitsProps {
  readonly shop: ShopCurrency;
}

interface DialogProps extends OfflineLimitsProps {
  readonly onClose: () => void;
}

/** Opens once the shop's currency and rate are known, by which the form proposes limits. */
function LimitsDialog(props: DialogProps): ReactNode {
  const { data, isFetching } = useRead('GET /accounts/{account}/{mode}/balance');
  if (data === undefined && isFetching) return null;
  return <LimitsForm {...props} shop={data?.presentment ?? null} />;
}

function LimitsForm({ terminal, shop, onClose }: DialogProps & OfflineFormProps): ReactNode {
  const form = useLimits({ terminal, shop }, onClose);
  const { sums, texts, sending, currency } = form;
  const isOn = terminal.offline !== null;
  return (
    <Dialog title={t('dashboard.page.offline_sales')} onClose={onClose}>
      <p>{t('dashboard.offline.text')}</p>
      <Form
        sending={sending}
        onSend={form.save}
        data-name="Offline sales"
        send={isOn ? t('dashboard.offline.save.button') : t('dashboard.offline.turn_on.button')}
        onCancel={onClose}
      >
        <ChangedMeanwhile isStale={form.isStale} />
        <Loss total={sumIn(sums.total)} currency={currency} />
        <Fields form={form} />
        <MarginText currency={currency} margin={readPercent(texts.rate_margin)} />
        <Bounds
          hours={readCount(texts.hours)}
          perPayment={currency === null ? sumIn(sums.per_payment) : null}
        />
        {isOn ? (
          <div>
            <Button kind="danger-quiet" busy={sending.busy} onClick={form.turnOff}>
              {t('dashboard.button.turn_off')}
            </Button>
          </div>
        ) : null}
      </Form>
    </Dialog>
  );
}

function Fields({ form }: { readonly form: ReturnType<typeof useLimits> }): ReactNode {
  const { sums, texts, sending, set } = form;
  const fieldOf = (field: Field) => ({
    value: texts[field],
    hint: form.storedAt(field) ?? t(`dashboard.offline.${field}.hint`),
    error: sending.problemAt(field),
  });
  const sumOf = (field: (typeof SUMS)[number]) => ({
    ...fieldOf(field),
    ...{
      sum: sums[field],
      currency: form.currency,
      shows: true,
      onText: (text: string) => set(field, text),
    },
  });
  const numberOf = (field: 'count' | 'hours') => ({
    ...fieldOf(field),
    inputMode: 'numeric' as const,
    autoComplete: 'off',
    onChange: ({ target }: ChangeEvent<HTMLInputElement>) => set(field, target.value),
  });
  return (
    <>
      <SumField
        data-name="Per payment"
        label={t('dashboard.offline.per_payment.label')}
        {...sumOf('per_payment')}
      />
      <SumField
        data-name="Per card and day"
        label={t('dashboard.offline.per_card_per_day.label')}
        {...sumOf('per_card_per_day')}
      />
      <SumField data-name="Total" label={t('dashboard.offline.total.label')} {...sumOf('total')} />
      <TextField
        data-name="Count"
        label={t('dashboard.offline.count.label')}
        {...numberOf('count')}
      />
      <TextField
        data-name="Hours"
        label={t('dashboard.offline.hours.label')}
        {...numberOf('hours')}
      />
      <PercentField
        data-name="Margin"
        label={t('dashboard.offline.margin.label')}
        {...fieldOf('rate_margin')}
        onText={(text) => set('rate_margin', text)}
      />
    </>
  );
}

/** Explains who bears the loss of a sale that bounces, and how large it can be. */
function Loss({
  total,
  currency,
}: {
  readonly total: bigint | null;
  readonly currency: string | null;
}): ReactNode {
  return (
    <Notice tone="warn">
      <strong>{t('dashboard.offline.loss.heading')}</strong>
      <p>
        {total === null
          ? t('dashboard.offline.loss')
          : t('dashboard.offline.loss.sum', { sum: formatMoney(total, currency) })}
      </p>
    </Notice>
  );
}

/** A move of a major currency against the dollar that has happened within a day. */
const EXAMPLE_RISE = 400;

/** Returns a currency's name within a sentence: English writes `Swiss franc`, not `Swiss Franc`. */
function currencyName(currency: string): string {
  const locale = textLocale();
  const code = currency.toUpperCase();
  const name = new Intl.DisplayNames(locale, { type: 'currency' }).of(code) ?? code;
  if (!locale.startsWith('en') || name === code) return name;
  return name.replace(/\p{Lu}\p{Ll}*$/u, (word) => word.toLowerCase());
}

/** Explains by an example what the margin protects against. */
function MarginText({
  currency,
  margin,
}: {
  readonly currency: string | null;
  readonly margin: number | null;
}): ReactNode {
  if (currency === null || margin === null) return null;
  const lost = Math.max(0, EXAMPLE_RISE - margin);
  const values = {
    currency: currencyName(currency),
    rise: rateText(EXAMPLE_RISE),
    lost: rateText(lost),
  };
  return (
    <p className="soft">
      {t(lost === 0 ? 'dashboard.offline.margin.covered' : 'dashboard.offline.margin.text', values)}
    </p>
  );
}

const HOUR_S = 3_600;

function durationText(seconds: number): string {
  const [number, unit] = seconds < HOUR_S ? [seconds / 60, 'minute'] : [seconds / HOUR_S, 'hour'];
  const rounded = Math.floor(number as number);
  return formatNumber(rounded, { style: 'unit', unit: unit as string, unitDisplay: 'long' });
}

interface BoundsProps {
  readonly hours: number | null;
  readonly perPayment: bigint | null;
}

/** Warns if the operator's rule or the notice period for fee changes is tighter than the limits. */
function Bounds({ hours, perPayment }: BoundsProps): ReactNode {
  const rule = useRead('GET /accounts/{account}/{mode}/offline_rule').data;
  if (rule === undefined) return null;
  const { allowed, per_payment: cap, rates_delay_seconds: delay } = rule;
  return (
    <>
      {allowed ? null : <Warning>{t('dashboard.offline.forbidden')}</Warning>}
      {cap !== null && perPayment !== null && perPayment > BigInt(cap) ? (
        <Warning>{t('dashboard.offline.capped', { sum: formatMoney(BigInt(cap), null) })}</Warning>
      ) : null}
      {delay !== null && hours !== null && hours * HOUR_S > delay ? (
        <Warning>{t('dashboard.offline.rates', { delay: durationText(delay) })}</Warning>
      ) : null}
    </>
  );
}

function Warning({ children }: { readonly children: string }): ReactNode {
  return (
    <Notice tone="warn" role="status">
      <p>{children}</p>
    </Notice>
  );
}
