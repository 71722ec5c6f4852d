import { type ChangeEvent, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
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
import { formatMoney } from '../../ui/format-price.ts';
import { Notice } from '../../ui/notice.tsx';
import { formatNumber } from '../../ui/numbers.ts';
import { Status } from '../../ui/status.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { readSum, sumIn, type TypedSum, writeSum } from '../../ui/typed-sum.ts';
import { readWhole } from '../../ui/whole-number.ts';
import { useMerchant, useRead } from '../use-merchant.ts';

type Limits = NonNullable<UpdateTerminalBody['offline']>;

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
  const sum = (atoms: number) => <Amount atoms={BigInt(atoms)} />;
  return (
    <FactList>
      <Fact name={t('dashboard.field.status')}>
        <Status tone="good">{t('dashboard.offline.on')}</Status>
      </Fact>
      <Fact name={t('dashboard.offline.per_payment.label')}>{sum(limits.per_payment)}</Fact>
      <Fact name={t('dashboard.offline.per_card_per_day.label')}>
        {sum(limits.per_card_per_day)}
      </Fact>
      <Fact name={t('dashboard.offline.total.label')}>{sum(limits.total)}</Fact>
      <Fact name={t('dashboard.offline.count.label')}>{formatNumber(limits.count)}</Fact>
      <Fact name={t('dashboard.offline.hours.label')}>{formatNumber(limits.hours)}</Fact>
    </FactList>
  );
}

/** Maximum validity of an authorization that the service accepts. */
const MAX_HOURS = 72;
/** The suggested validity. The other limits depend on the shop, so none is suggested. */
const USUAL_HOURS = '24';

const SUMS = ['per_payment', 'per_card_per_day', 'total'] as const;
const FIELDS = [...SUMS, 'count', 'hours'] as const;
type Field = (typeof FIELDS)[number];
type Texts = Readonly<Record<Field, string>>;

function textsOf(limits: Limits | null): Texts {
  const sum = (atoms: number | undefined) => (atoms === undefined ? '' : writeSum(BigInt(atoms)));
  return {
    per_payment: sum(limits?.per_payment),
    per_card_per_day: sum(limits?.per_card_per_day),
    total: sum(limits?.total),
    count: limits === null ? '' : String(limits.count),
    hours: limits === null ? USUAL_HOURS : String(limits.hours),
  };
}

function readCount(text: string): number | null {
  return readWhole(text) || null;
}

/** Returns the limits, or the first invalid field and the reason. */
function readLimits(
  sums: Readonly<Record<(typeof SUMS)[number], TypedSum>>,
  texts: Texts,
): Limits | readonly [Field, string] {
  const values: Partial<Record<Field, number>> = {};
  for (const field of SUMS) {
    const atoms = sumIn(sums[field]);
    if (atoms === null) return [field, t('dashboard.offline.sum.missing')];
    values[field] = Number(atoms);
  }
  const count = readCount(texts.count);
  if (count === null) return ['count', t('dashboard.offline.count.invalid')];
  const hours = readCount(texts.hours);
  if (hours === null || hours > MAX_HOURS) return ['hours', t('dashboard.offline.hours.invalid')];
  return { ...(values as Limits), count, hours };
}

function useLimits({ terminal }: OfflineLimitsProps, onClose: () => void) {
  const { call } = useMerchant();
  const toast = useToast();
  const stored = terminal.offline;
  const [opened] = useState(stored);
  const { isStale } = useOpened(stored);
  const [texts, setTexts] = useState(() => textsOf(opened));
  const sending = useSend([...FIELDS]);
  const save = async (offline: Limits | null) => {
    const body = { version: terminal.version, offline };
    const path = { id: terminal.id };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/terminals/{id}', { path, body }),
    );
    if (saved === null) return;
    toast(t('dashboard.settings.saved'));
    onClose();
  };
  const sumOf = (field: (typeof SUMS)[number]) =>
    readSum(texts[field], { wrote: opened === null ? null : BigInt(opened[field]) });
  const sums = {
    per_payment: sumOf('per_payment'),
    per_card_per_day: sumOf('per_card_per_day'),
    total: sumOf('total'),
  };
  return {
    ...{ texts, sums, sending, isStale },
    set: (field: Field, text: string) => setTexts({ ...texts, [field]: text }),
    /** The limits that another user has saved since the form was opened. */
    storedAt: (field: Field) =>
      storedNow({ isStale, stored: textsOf(stored)[field], typed: texts[field] }),
    turnOff: () => save(null),
    save: () => {
      const limits = readLimits(sums, texts);
      if ('per_payment' in limits) return save(limits);
      sending.refuse(...limits);
    },
  };
}

interface DialogProps extends OfflineLimitsProps {
  readonly onClose: () => void;
}

function LimitsDialog(props: DialogProps): ReactNode {
  const { terminal, onClose } = props;
  const form = useLimits({ terminal }, onClose);
  const { sums, texts, sending } = form;
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
        <Loss total={sumIn(sums.total)} />
        <Fields form={form} />
        <Bounds hours={readCount(texts.hours)} perPayment={sumIn(sums.per_payment)} />
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
    ...{ sum: sums[field], shows: true, onText: (text: string) => set(field, text) },
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
    </>
  );
}

/** Explains who bears the loss of a sale that bounces, and how large it can be. */
function Loss({ total }: { readonly total: bigint | null }): ReactNode {
  return (
    <Notice tone="warn">
      <strong>{t('dashboard.offline.loss.heading')}</strong>
      <p>
        {total === null
          ? t('dashboard.offline.loss')
          : t('dashboard.offline.loss.sum', { sum: formatMoney(total, null) })}
      </p>
    </Notice>
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
