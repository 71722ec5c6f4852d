import { type ReactNode, useState } from 'react';
import { useParams } from 'wouter';
import { declineText } from '../../data/refusal-text.ts';
import type { PaymentIntentWithTotal as PaymentIntent } from '../../data/types/dashboard.ts';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { Headline } from '../../desk/headline.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { TotalHeadline } from '../../desk/total-headline.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { formatNumber, percentText } from '../../ui/numbers.ts';
import { priceOf } from '../../ui/quoted-price.ts';
import { intentSum } from '../../ui/sale-total.tsx';
import { Page } from '../../ui/shell.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { tipPrice } from '../../ui/tip-price.ts';
import { Money } from '../../ui/typed-money.tsx';
import { AcceptedOffline } from '../payments/accepted-offline.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { PaymentTimeline } from '../payments/payment-timeline.tsx';
import { RateFacts } from '../payments/rate-facts.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { TerminalLink } from '../terminals/terminal-names.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

/** Polling interval, short enough to follow a tap. */
const WATCH_MS = 2_000;
const OPEN: readonly string[] = ['requires_payment_method', 'requires_action', 'processing'];

export function IntentPage(): ReactNode {
  const { id = '' } = useParams();
  const [isCanceling, setIsCanceling] = useState(false);
  const { call, may } = useMerchant();
  const query = useRead(
    'GET /accounts/{account}/{mode}/payment_intents/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  const canCancel = query.data !== undefined && OPEN.includes(query.data.status) && may('member');
  return (
    <Page
      title={t('dashboard.field.intent')}
      actions={
        canCancel ? (
          <Button data-name="Cancel payment" onClick={() => setIsCanceling(true)}>
            {t('dashboard.button.cancel_payment')}
          </Button>
        ) : null
      }
    >
      <Loaded query={query} missing={<OtherMode />}>
        {(intent) => <IntentView intent={intent} />}
      </Loaded>
      {isCanceling ? (
        <ConfirmDialog
          title={t('dashboard.intent.cancel_this_payment.heading')}
          send={t('dashboard.button.cancel_payment')}
          data-name="Cancel payment"
          cancelsSomething
          request={() =>
            call('POST /accounts/{account}/{mode}/payment_intents/{id}/cancel', { path: { id } })
          }
          onDone={() => setIsCanceling(false)}
          onClose={() => setIsCanceling(false)}
        >
          <p>{t('dashboard.intent.cancel.text')}</p>
        </ConfirmDialog>
      ) : null}
    </Page>
  );
}

/** Returns the tip that was given or, before the payment, the offered choices. */
function tipOf({ tip, tipping, presentment }: PaymentIntent): ReactNode {
  if (tip !== null && tip > 0) {
    return <Amount atoms={BigInt(tip)} price={tipPrice(presentment, BigInt(tip))} />;
  }
  if (tipping === null) return null;
  const offered = tipping.percentages
    .map((percent) => percentText(formatNumber(percent)))
    .join(', ');
  return t(tip === null ? 'dashboard.intent.tip_offered' : 'dashboard.intent.no_tip', { offered });
}

function FeeOf({ presentment, service_fee: atoms }: PaymentIntent): ReactNode {
  if (presentment === null) return atoms ? <Amount atoms={BigInt(atoms)} /> : null;
  const { fees, currency } = presentment;
  return fees ? <Money units={BigInt(fees)} currency={currency} /> : null;
}

function IntentView({ intent }: { readonly intent: PaymentIntent }): ReactNode {
  const metadata = Object.entries(intent.metadata);
  const { amount, presentment, last_payment_error: declined } = intent;
  const tip = intent.tip ?? 0;
  return (
    <>
      <Headline of={intent}>
        <TotalHeadline {...intentSum(intent)} />
      </Headline>
      {declined === null ? null : (
        <Notice tone="warn">
          <strong>{t('dashboard.intent.declined.heading')}</strong>
          <p>
            {rich('dashboard.intent.declined.tell', {
              words: () => <q>{declineText(declined)}</q>,
            })}
          </p>
        </Notice>
      )}
      <div className="columns">
        <PaymentTimeline intent={intent} />
        <section className="card stack">
          <h2>{t('dashboard.intent.sale.heading')}</h2>
          <FactList>
            <Fact name={t('dashboard.intent.amount_requested.name')}>
              {tip === 0 ? null : <Amount atoms={BigInt(amount)} price={priceOf(presentment)} />}
            </Fact>
            <Fact name={t('dashboard.field.tip')}>{tipOf(intent)}</Fact>
            <Fact name={t('ui.service_fee')}>
              <FeeOf {...intent} />
            </Fact>
            <RateFacts quoted={presentment} />
            <Fact name={t('dashboard.field.payment')}>
              {intent.payment && <ObjectLink id={intent.payment} />}
            </Fact>
            <AcceptedOffline offline={intent.offline} />
            <Fact name={t('dashboard.field.description')}>{given(intent.description)}</Fact>
            <Fact name={t('dashboard.field.order')}>
              <span className="id">{intent.order_id}</span>
            </Fact>
            <Fact name={t('dashboard.field.terminal')}>
              <TerminalLink id={intent.terminal} />
            </Fact>
            <Fact name={t('dashboard.field.expires')}>
              <Time at={intent.expires_at} />
            </Fact>
            <Fact name={t('dashboard.field.part_of_a_split')}>{given(intent.split_group)}</Fact>
            {metadata.map(([name, value]) => (
              <Fact key={name} name={given(name)}>
                {given(value)}
              </Fact>
            ))}
          </FactList>
        </section>
      </div>
    </>
  );
}
