import { type ReactNode, useEffect, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { type SaleTotal, sumWords } from '../../ui/paid-total.ts';
import { paidTip, priceOf } from '../../ui/quoted-price.ts';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { dueFor } from '../../ui/sale-total.tsx';
import { Facts } from '../../ui/table.tsx';
import { type TextKey, t } from '../../ui/text/t.ts';
import type { Bell } from '../confirmation-polling.ts';
import { declineHint } from '../decline-hint.ts';
import { askOwner, asksEach } from '../passkey-per-payment.ts';
import { leftMs, type Ring, type RingOutcome } from '../ring-machine.ts';
import { endRing, startRing } from '../ring-sound.ts';
import { useHere } from '../wallet-context.tsx';
import { useWallet } from '../wallet-reads.ts';
import { sumLength } from '../wallet-status.ts';
import { CountdownRing } from './countdown-ring.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import './ring.css';

const REASONS: Readonly<Record<string, TextKey>> = {
  FIRST_MERCHANT_PAYMENT: 'wallet.confirm.reason.first_merchant_payment',
  HIGH_AMOUNT: 'wallet.confirm.reason.high_amount',
  VELOCITY: 'wallet.confirm.reason.velocity',
  STATIC_PASS: 'wallet.confirm.reason.static_pass',
  CARD_AFTER_RECOVERY: 'wallet.confirm.reason.card_after_recovery',
};

const TONES: Readonly<Record<RingOutcome, 'good' | 'bad' | 'plain'>> = {
  paid: 'good',
  rejected: 'plain',
  declined: 'bad',
  expired: 'plain',
  canceled: 'plain',
  gone: 'plain',
  refused: 'bad',
};

interface SumProps {
  readonly ring: Ring;
  readonly due: SaleTotal;
}

function Sum({ due: { total } }: SumProps): ReactNode {
  return (
    <p className={`ring-sum ${sumLength(total.atoms)}`}>
      {/* Not a button, because a dialog would focus it. The digits are below and on `Approve`. */}
      <Amount still {...total} />
    </p>
  );
}

/**
 * Shows the reason above any long text, so that the countdown is visible on the smallest screen.
 */
function Why({ confirmation }: Ring): ReactNode {
  const { api } = useHere();
  return (
    <p className="row ring-why">
      <CountdownRing left={() => leftMs(confirmation, api.now())} />
      <span>{t(REASONS[confirmation.reason_code ?? ''] ?? 'wallet.confirm.reason.other')}</span>
    </p>
  );
}

function Parts({ ring, due }: SumProps): ReactNode {
  const { confirmation } = ring;
  const all = BigInt(confirmation.amount);
  const tip = BigInt(confirmation.tip);
  return (
    <Facts
      facts={[
        [
          t('wallet.confirm.fact.sale'),
          <Amount
            key="sale"
            unit={false}
            atoms={all - tip}
            price={priceOf(confirmation.presentment)}
          />,
        ],
        [
          t('wallet.confirm.fact.tip'),
          tip === 0n ? null : (
            <Amount key="tip" unit={false} atoms={tip} price={paidTip(confirmation.presentment)} />
          ),
        ],
        [
          t('ui.service_fee'),
          due.fee === null ? null : <Amount key="fee" unit={false} {...due.fee} />,
        ],
        [t('ui.total'), <Amount key="total" unit={false} {...due.total} />],
        [t('wallet.confirm.fact.for'), confirmation.description && named(confirmation.description)],
        [t('wallet.confirm.fact.order'), confirmation.order_id && named(confirmation.order_id)],
      ]}
    />
  );
}

function endHint({ outcome, message, confirmation }: Extract<Ring, { at: 'ended' }>): string {
  if (outcome === 'declined') return declineHint(confirmation.decline_code);
  return message ?? t(`wallet.confirm.end_hint.${outcome}`);
}

function Answering({ ring }: { readonly ring: Extract<Ring, { at: 'answering' }> }): ReactNode {
  const isUnknown = ring.sends > 1 && !ring.isTaken;
  return (
    <Notice tone="info" role="status" data-result={isUnknown ? RESULT_NAMES.checking : undefined}>
      <strong>
        {isUnknown
          ? t('wallet.confirm.checking')
          : ring.yes
            ? t('wallet.confirm.paying')
            : t('wallet.confirm.rejecting')}
      </strong>
      {isUnknown ? <p>{t('wallet.confirm.checking_hint')}</p> : null}
      {ring.isTaken ? <p>{t('wallet.confirm.taken_hint')}</p> : null}
    </Notice>
  );
}

interface PartProps<R extends Ring> {
  readonly ring: R;
  readonly bell: Bell;
  readonly due: SaleTotal;
}

function RingingPart({ ring, bell, due }: PartProps<Extract<Ring, { at: 'asked' }>>): ReactNode {
  const { confirmation, remark } = ring;
  const { vault } = useHere();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const id = confirmation.payment_intent;
  const approve = async () => {
    if (asksEach(vault)) {
      setBusy(true);
      const wrong = await askOwner(vault);
      setBusy(false);
      setProblem(wrong);
      if (wrong !== null) return;
    }
    void bell.answer(id, true);
  };
  return (
    <>
      <ProblemNotice problem={problem ?? remark} />
      <div className="ring-answers">
        <Button data-name="Approve" kind="primary" large busy={busy} onClick={approve}>
          {t('wallet.confirm.approve_button', {
            sum: sumWords(due.total),
          })}
        </Button>
        <Button data-name="Reject" large onClick={() => void bell.answer(id, false)}>
          {t('wallet.confirm.reject_button')}
        </Button>
      </div>
    </>
  );
}

function Ended({ ring, bell }: PartProps<Extract<Ring, { at: 'ended' }>>): ReactNode {
  const { outcome } = ring;
  const intent = ring.confirmation.payment_intent;
  return (
    <>
      <Notice tone={TONES[outcome]} role="status" data-result={RESULT_NAMES[outcome]}>
        <strong>{t(`wallet.confirm.end.${outcome}`)}</strong>
        <p>{endHint(ring)}</p>
      </Notice>
      <Button kind="primary" large onClick={() => bell.dispatch({ type: 'closed', intent })}>
        {t('wallet.done')}
      </Button>
    </>
  );
}

/** Shows the confirmation over every page, because it has priority. */
export function RingSheet({ bell, ring }: Omit<PartProps<Ring>, 'due'>): ReactNode {
  const { refresh } = useHere();
  const rates = useWallet().data?.fee_rates;
  const { at } = ring;
  useEffect(() => {
    if (at === 'asked') startRing();
    if (at === 'answering' || at === 'ended') endRing();
    if (at === 'ended') refresh();
  }, [at, refresh]);
  const { confirmation } = ring;
  const intent = confirmation.payment_intent;
  const { amount, tip, presentment } = confirmation;
  const due = dueFor({ amount: amount - tip, presentment }, BigInt(tip), rates);
  const part = { bell, due };
  return (
    <Dialog
      key={intent}
      title={named(confirmation.merchant_name)}
      // Escape is neither an approval nor a rejection.
      onClose={() => bell.dispatch({ type: 'closed', intent })}
    >
      <Sum ring={ring} due={due} />
      {ring.at === 'asked' ? <Why {...ring} /> : null}
      <Parts ring={ring} due={due} />
      {ring.at === 'asked' ? <RingingPart ring={ring} {...part} /> : null}
      {ring.at === 'answering' ? <Answering ring={ring} /> : null}
      {ring.at === 'ended' ? <Ended ring={ring} {...part} /> : null}
    </Dialog>
  );
}
