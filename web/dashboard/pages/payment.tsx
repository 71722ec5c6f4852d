import { type ReactNode, useState } from 'react';
import { useParams } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import { receiptPath } from '../../data/receipt-path.ts';
import type { Payment, PaymentIntent } from '../../data/types/dashboard.ts';
import { Headline } from '../../desk/headline.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { List } from '../../desk/short-list.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import type { Price } from '../../ui/format-price.ts';
import { paidTotal } from '../../ui/paid-total.ts';
import { paidPrice, paidTip, sharePrice } from '../../ui/quoted-price.ts';
import { Page } from '../../ui/shell.tsx';
import { Sum } from '../../ui/sum.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { AcceptedOffline } from '../payments/accepted-offline.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { PaymentTimeline } from '../payments/payment-timeline.tsx';
import { RateFacts } from '../payments/rate-facts.tsx';
import { RefundDialog, refundWish } from '../payments/refund-dialog.tsx';
import { SoldItems } from '../payments/sold-items.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { useOwnLocations } from '../terminals/terminal-location.tsx';
import { TerminalLink } from '../terminals/terminal-names.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';
import { refundColumns } from './refunds.tsx';

export function PaymentPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /accounts/{account}/{mode}/payments/{id}', { path: { id } });
  const [isRefunding, setIsRefunding] = useState(() => refundWish() !== null);
  const { may } = useMerchant();
  const payment = query.data;
  const canRefund = payment !== undefined && payment.amount > payment.amount_refunded;
  return (
    <Page
      title={t('dashboard.field.payment')}
      actions={
        canRefund && may('member') ? (
          <Button data-name="Refund" onClick={() => setIsRefunding(true)}>
            {t('dashboard.button.refund')}
          </Button>
        ) : null
      }
    >
      <Loaded query={query} missing={<OtherMode />}>
        {(payment) => <PaymentView payment={payment} />}
      </Loaded>
      {isRefunding && payment !== undefined && may('member') ? (
        <RefundDialog payment={payment} onClose={() => setIsRefunding(false)} />
      ) : null}
    </Page>
  );
}

function PaymentView({ payment }: { readonly payment: Payment }): ReactNode {
  const { data: intent } = useRead('GET /accounts/{account}/{mode}/payment_intents/{id}', {
    path: { id: payment.payment_intent },
  });
  return (
    <>
      <Headline of={payment}>
        <Sum {...paidTotal(payment).total} />
      </Headline>
      <div className="columns">
        <PaymentTimeline intent={intent} payment={payment} />
        <div className="stack">
          <SoldItems payment={payment} />
          <Sums payment={payment} />
          <Origin payment={payment} intent={intent} />
          <Proof payment={payment} />
        </div>
      </div>
      {payment.amount_refunded > 0 ? <RefundsOf payment={payment} /> : null}
    </>
  );
}

function atoms(value: number, price: Price | null = null): ReactNode {
  return <Amount atoms={BigInt(value)} price={price} />;
}

function Sums({ payment }: { readonly payment: Payment }): ReactNode {
  const { tip, presentment, amount_refunded: refunded } = payment;
  const { total, fee } = paidTotal(payment);
  return (
    <section className="card stack">
      <h2>{t('dashboard.payment.money.heading')}</h2>
      <FactList>
        <Fact name={t('dashboard.payment.you_get.name')}>
          {atoms(payment.net, paidPrice(presentment))}
        </Fact>
        <Fact name={t('dashboard.payment.tip_included.name')}>
          {tip === 0 ? null : atoms(tip, paidTip(presentment))}
        </Fact>
        <Fact name={t('ui.service_fee')}>{fee === null ? null : <Amount {...fee} />}</Fact>
        <Fact name={t('ui.total')}>
          <Amount {...total} />
        </Fact>
        <Fact name={t('dashboard.field.refunded')}>
          {refunded === 0 ? null : atoms(refunded, sharePrice(payment, BigInt(refunded)))}
        </Fact>
        <RateFacts quoted={presentment} />
      </FactList>
      <p className="soft small">{t('dashboard.payment.money.fees')}</p>
    </section>
  );
}

const credentials = (): Readonly<Record<string, string>> => ({
  nfc_id: t('dashboard.payment.credentials.nfc_id'),
  nfc_sun: t('dashboard.payment.credentials.nfc_sun'),
  qr: t('dashboard.payment.credentials.qr'),
  smart_tap: t('dashboard.payment.credentials.smart_tap'),
  apple_vas: t('dashboard.payment.credentials.apple_vas'),
  agent_token: t('dashboard.payment.credentials.agent_token'),
  authorization: t('dashboard.payment.credentials.authorization'),
  chip: t('dashboard.payment.credentials.chip'),
});

function LocationName({ id }: { readonly id: string }): ReactNode {
  return <bdi>{useOwnLocations().find((one) => one.id === id)?.name ?? id}</bdi>;
}

/** Names a person of the staff, or a member with a PIN. */
function CashierName({ id }: { readonly id: string }): ReactNode {
  const staff = useRead('GET /accounts/{account}/staff').data?.data ?? [];
  const members = useRead('GET /accounts/{account}/members').data?.data ?? [];
  const person = [...staff, ...members.map(({ user, name }) => ({ id: user, name }))].find(
    (one) => one.id === id,
  );
  return <bdi>{person?.name ?? id}</bdi>;
}

interface OriginProps {
  readonly payment: Payment;
  /** `undefined` while loading. */
  readonly intent: PaymentIntent | undefined;
}

function Origin({ payment, intent }: OriginProps): ReactNode {
  const { credential } = payment.payment_method;
  const receipt = receiptPath(payment.receipt_url);
  return (
    <section className="card stack">
      <h2>{t('dashboard.payment.sale.heading')}</h2>
      <FactList>
        <Fact name={t('dashboard.field.order')}>
          <span className="id">{payment.order_id}</span>
        </Fact>
        <Fact name={t('dashboard.field.terminal')}>
          <TerminalLink id={payment.terminal} />
        </Fact>
        <Fact name={t('dashboard.reports.location')}>
          {payment.location === null ? null : <LocationName id={payment.location} />}
        </Fact>
        <Fact name={t('dashboard.reports.cashier')}>
          {payment.cashier === null ? null : <CashierName id={payment.cashier} />}
        </Fact>
        <AcceptedOffline offline={intent?.offline ?? null} />
        <Fact name={t('dashboard.payment.paid_by.name')}>
          {credentials()[credential] ?? t('dashboard.payment.unknown')}
        </Fact>
        <Fact name={t('dashboard.field.wallet')}>
          <span className="id">{payment.payer}</span>
        </Fact>
        <Fact name={t('dashboard.field.intent')}>
          <ObjectLink id={payment.payment_intent} />
        </Fact>
        <Fact name={t('dashboard.field.part_of_a_split')}>{given(payment.split_group)}</Fact>
        <Fact name={t('dashboard.payment.can_be_refunded_until.name')}>
          <Time at={payment.refundable_until} shape="day" />
        </Fact>
        <Fact name={t('dashboard.payment.message_to_the_customer.name')}>
          {given(payment.customer_message)}
        </Fact>
      </FactList>
      {receipt === null ? null : (
        <p>
          {rich('dashboard.payment.receipt', {
            link: (text) => <a href={receipt}>{text}</a>,
            hint: (text) => <span className="soft small">{text}</span>,
          })}
        </p>
      )}
    </section>
  );
}

function Proof({ payment }: { readonly payment: Payment }): ReactNode {
  return (
    <section className="card stack">
      <h2>{t('dashboard.payment.proof_on_the_chain.heading')}</h2>
      <p className="soft small">
        {t('dashboard.payment.proof.text', { entry: payment.log_index })}
      </p>
      <CopyField label={t('dashboard.field.transaction')} value={payment.tx_hash} />
      <FactList>
        <Fact name={t('dashboard.field.chain')}>
          {named(`${payment.chain_id} (${payment.network})`)}
        </Fact>
        <Fact name={t('dashboard.payment.block.name')}>{String(payment.block_number)}</Fact>
        <Fact name={t('dashboard.payment.log_entry.name')}>{String(payment.log_index)}</Fact>
        <Fact name={t('dashboard.payment.block_time.name')}>
          <Time at={payment.settled_at} />
        </Fact>
      </FactList>
    </section>
  );
}

function RefundsOf({ payment }: { readonly payment: Payment }): ReactNode {
  const query = useRead('GET /accounts/{account}/{mode}/refunds', {
    query: { payment: payment.id, limit: 100 },
  });
  return (
    <section className="stack">
      <h2>{t('dashboard.page.refunds')}</h2>
      <List
        label={t('dashboard.payment.refunds_of_this_payment.label')}
        query={query}
        columns={refundColumns()}
        inPairs
        keyOf={({ id }) => id}
        empty={null}
      />
    </section>
  );
}
