import { type ReactNode, useEffect } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { Intent, Payment } from '../../data/device-api.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import type { Price } from '../../ui/format-price.ts';
import { Icon } from '../../ui/icon.tsx';
import { LargeMoney } from '../../ui/large-money.tsx';
import { paidTotal } from '../../ui/paid-total.ts';
import { priceOf } from '../../ui/quoted-price.ts';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { dueFor, Total } from '../../ui/sale-total.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { formatLeft, useTimeLeft } from '../../ui/time-left.ts';
import { tipPrice, tippedPrice } from '../../ui/tip-price.ts';
import { cashierDecline, endHint, OUTCOME_LOOKS } from '../result-words.ts';
import { signal } from '../sounds-and-vibration.ts';
import { asksCustomer } from '../till-machine.ts';
import type { Canceling, Creating, Following, Result, Tapping } from '../till-phases.ts';
import { keptSettings } from '../till-storage.ts';
import { WORDS } from '../till-words.ts';
import { CancelPaymentButton } from './cancel-payment-button.tsx';
import { ReceiptChoices, usePaid } from './receipt-part.tsx';
import type { TillContext } from './till-context.ts';
import { usePrinterJob } from './use-printer-job.tsx';
import { useReturn } from './use-return.ts';

/** Shown while a payment is being opened or canceled. Until then, no pass can be charged. */
export function WorkingScreen({
  phase,
  runner,
  view,
  offline,
  device,
}: TillContext & { readonly phase: Creating | Canceling }): ReactNode {
  const isOpening = phase.at === 'creating';
  // Even if the customer still pays this payment, an offline sale is no second charge, because the
  // till forwards it only after this payment is canceled.
  const sellsOffline = !isOpening && !view.reached && offline.view.isOn;
  return (
    <div className="stack filling">
      <section className="outcome is-full-plain" role="status">
        <span className="spinner" aria-hidden="true" />
        <h1>{isOpening ? t('till.opening') : t('till.canceling')}</h1>
        {isOpening ? (
          <LargeMoney units={phase.create.amount} currency={phase.create.currency} />
        ) : (
          <Total {...dueFor(phase.intent, phase.tip ?? 0n, device?.fee_rates)} />
        )}
        <p>
          {!isOpening && asksCustomer(phase.intent)
            ? t('till.canceling_hint')
            : t('till.opening_hint')}
        </p>
      </section>
      {isOpening && phase.sends > 1 ? (
        <CancelPaymentButton onClick={() => runner.dispatch({ type: 'gave_up' })} />
      ) : null}
      {sellsOffline ? (
        <>
          <p className="soft">{t('till.offline_sale.instead_text')}</p>
          <Button wide onClick={() => runner.dispatch({ type: 'leave' })}>
            {t('till.offline_sale.instead_button')}
          </Button>
        </>
      ) : null}
    </div>
  );
}

function ConfirmLeft({
  until,
  clockOffsetMs,
}: {
  readonly until: string;
  readonly clockOffsetMs: number;
}): ReactNode {
  const left = useTimeLeft(until, clockOffsetMs);
  return <p role="timer">{t('till.time_left', { time: formatLeft(left) })}</p>;
}

/** Explains why a large payment still waits after it is in a block. */
function waitHint({ waits_for: waitsFor }: Intent): string {
  return waitsFor === null ? t('till.checking_hint') : t(`till.included_hint.${waitsFor}`);
}

/**
 * Shows that a tap is being checked, without any action that could charge the customer twice. The
 * payment can be canceled while the payer is asked to confirm; a cancel that comes too late shows
 * `Paid`.
 */
export function CheckingScreen({
  phase,
  view,
  runner,
  settings,
  device,
}: TillContext & { readonly phase: Tapping | Following }): ReactNode {
  const { intent } = phase;
  const asks = phase.at === 'following' && asksCustomer(intent);
  const until = asks ? (intent.next_action?.expires_at ?? null) : null;
  const tip = (phase.at === 'tapping' ? phase.tap.tip : phase.tip) ?? 0n;
  useEffect(() => signal('wait', settings.sound), [settings.sound]);
  const word = asks ? 'till.confirming' : WORDS.checking;
  return (
    <div className="stack filling">
      <title>{`${t(word)} · Tapline`}</title>
      <section
        className="outcome is-full-info"
        role="status"
        data-result={asks ? RESULT_NAMES.waiting : RESULT_NAMES.checking}
      >
        {asks ? <Icon name="wait" /> : <span className="spinner" aria-hidden="true" />}
        <h1>{t(word)}</h1>
        <Total {...dueFor(intent, tip, device?.fee_rates)} />
        <p>{asks ? t('till.confirming_hint') : waitHint(intent)}</p>
        {asks ? null : <p>{t('till.take_away')}</p>}
        {until === null ? null : <ConfirmLeft until={until} clockOffsetMs={view.clockOffsetMs} />}
      </section>
      {asks ? (
        <CancelPaymentButton large onClick={() => runner.dispatch({ type: 'cancel' })} />
      ) : null}
    </div>
  );
}

function ResultFacts({
  intent,
  payment,
}: {
  readonly intent: Intent;
  readonly payment: Payment | null;
}): ReactNode {
  const { presentment } = intent;
  const tip = BigInt(intent.tip ?? 0);
  const sum = (atoms: bigint, price: Price | null = null) =>
    atoms === 0n ? null : <Amount atoms={atoms} price={price} />;
  return (
    <div className="card result-facts">
      <FactList>
        <Fact name={t('till.outcome.sale')}>
          {sum(BigInt(intent.amount), priceOf(presentment))}
        </Fact>
        <Fact name={t('till.outcome.tip')}>{sum(tip, tipPrice(presentment, tip))}</Fact>
        <Fact name={t('till.outcome.you_get')}>
          {intent.payment === null
            ? null
            : sum(BigInt(intent.amount) + tip, tippedPrice(presentment, tip))}
        </Fact>
        <Fact name={t('till.outcome.order')}>{named(intent.order_id)}</Fact>
        <Fact name={t('till.outcome.receipt')}>
          {payment?.receipt_number == null ? null : named(payment.receipt_number)}
        </Fact>
      </FactList>
    </div>
  );
}

function ResultReason({ outcome, intent }: Pick<Result, 'outcome' | 'intent'>): ReactNode {
  if (outcome === 'paid') return null;
  return <p>{outcome === 'declined' ? cashierDecline(intent) : endHint(outcome, intent)}</p>;
}

/** Shows the result, readable at arm's length, until the cashier dismisses it. */
export function ResultScreen({
  api,
  phase,
  ...context
}: TillContext & { readonly phase: Result }): ReactNode {
  const { runner, settings, view, device } = context;
  const { outcome, intent, since } = phase;
  const look = OUTCOME_LOOKS[outcome];
  const tip = BigInt(intent.tip ?? 0);
  const isFresh = since > 0;
  useEffect(() => {
    if (isFresh) signal(outcome === 'paid' ? 'good' : 'bad', settings.sound);
  }, [isFresh, outcome, settings.sound]);
  const opensDrawer = isFresh && outcome === 'paid' && settings.printer?.drawer === true;
  const { run, problem } = usePrinterJob(t('till.printer.problem.silent'));
  useEffect(() => {
    const { printer } = keptSettings();
    if (!opensDrawer || printer === null) return;
    run(async () => (await import('../receipt-printer.ts')).openDrawer(printer));
  }, [opensDrawer, run]);
  useReturn(settings.returnAfterS ?? null, runner);
  const paid = outcome === 'paid' ? intent.payment : null;
  const payment = usePaid(api, paid);
  const due = payment === null ? dueFor(intent, tip, device?.fee_rates) : paidTotal(payment);
  return (
    <div className="stack filling">
      <title>{`${t(WORDS.outcome[outcome])} · Tapline`}</title>
      <section
        className={`outcome is-full-${look}`}
        role={outcome === 'declined' ? 'alert' : 'status'}
        data-result={RESULT_NAMES[outcome]}
      >
        <Icon name={look === 'good' || look === 'bad' || look === 'warn' ? look : 'info'} />
        <h1>{t(WORDS.outcome[outcome])}</h1>
        <Total {...due} />
        {tip > 0n ? (
          <p>
            {rich('till.with_tip', {
              sum: () => <Amount atoms={tip} price={tipPrice(intent.presentment, tip)} />,
            })}
          </p>
        ) : null}
        <ResultReason outcome={outcome} intent={intent} />
      </section>
      {problem}
      <ResultFacts intent={intent} payment={payment} />
      {paid === null ? null : <ReceiptChoices api={api} payment={payment} />}
      <Button
        data-name="New payment"
        kind="primary"
        large
        wide
        autoFocus
        onClick={() => runner.dispatch({ type: 'again' })}
      >
        {t(view.till.split === null ? 'till.new_payment' : 'till.new_payment_part')}
      </Button>
    </div>
  );
}
