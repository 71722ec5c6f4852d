import type { ReactNode } from 'react';
import { leftWallet } from '../../data/left-wallet.ts';
import type { PayerPayment } from '../../data/payer.ts';
import { receiptPath } from '../../data/receipt-path.ts';
import { Amount } from '../../ui/amount.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { rowsOf, usePayments } from '../queries.ts';
import { More, Problem, Waiting } from './loading.tsx';

/** One payment: who got it, how much left the wallet, and its proof. */
export function PaymentRow({ payment }: { readonly payment: PayerPayment }): ReactNode {
  const receipt = receiptPath(payment.receipt_url);
  const { acquirer, protocol, cashback } = payment.fees;
  const fees = BigInt(acquirer + protocol - cashback);
  return (
    <li className="payment">
      <div className="payment-who">
        <strong>
          <bdi>{payment.merchant_name}</bdi>
        </strong>
        <span className="soft small">
          <Time at={payment.settled_at} />
        </span>
        {payment.status === 'succeeded' ? null : <ObjectStatus status={payment.status} />}
        {payment.payment_method.credential === 'nfc_id' ? (
          <span className="soft small">With a fixed-code pass</span>
        ) : null}
        {receipt === null ? null : (
          <a className="small" href={receipt}>
            Receipt
          </a>
        )}
      </div>
      <div className="payment-sum">
        <strong>
          <Amount atoms={leftWallet(payment)} />
        </strong>
        <span className="soft small">
          <Amount atoms={BigInt(payment.amount)} unit={false} /> +{' '}
          <Amount atoms={fees} unit={false} /> fees
        </span>
        {payment.tip === 0 ? null : (
          <span className="soft small">
            includes <Amount atoms={BigInt(payment.tip)} unit={false} /> tip
          </span>
        )}
        {payment.fees.cashback === 0 ? null : (
          <span className="soft small">
            <Amount atoms={BigInt(payment.fees.cashback)} unit={false} /> cashback
          </span>
        )}
        {payment.amount_refunded === 0 ? null : (
          <span className="small">
            <Amount atoms={BigInt(payment.amount_refunded)} unit={false} /> refunded
          </span>
        )}
      </div>
    </li>
  );
}

export function HistoryPage(): ReactNode {
  const payments = usePayments();
  const rows = rowsOf(payments);
  return (
    <>
      <title>History · Tapline</title>
      <h1>History</h1>
      {rows === null && payments.isError ? <Problem of={payments.error} /> : null}
      {rows === null && !payments.isError ? <Waiting /> : null}
      {rows?.length === 0 ? (
        <EmptyState title="No payments yet">
          Payments from this wallet appear here, with their receipts.
        </EmptyState>
      ) : null}
      {rows === null || rows.length === 0 ? null : (
        <ul className="payments">
          {rows.map((payment) => (
            <PaymentRow key={payment.id} payment={payment} />
          ))}
        </ul>
      )}
      <More pages={payments} />
    </>
  );
}
