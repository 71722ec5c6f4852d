import type { ReactNode } from 'react';
import type { PayerPayment } from '../../data/payer-api.ts';
import { receiptPath } from '../../data/receipt-path.ts';
import { Amount } from '../../ui/amount.tsx';
import { formatPrice } from '../../ui/format-price.ts';
import { paidTotal } from '../../ui/paid-total.ts';
import { paidTip, sharePrice } from '../../ui/quoted-price.ts';
import { ObjectStatus } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { otherPrice } from '../signed-prices.ts';

function PaymentSums({ payment }: { readonly payment: PayerPayment }): ReactNode {
  const { total, fee } = paidTotal(payment);
  const tip = BigInt(payment.tip);
  const refunded = BigInt(payment.amount_refunded);
  const signed = otherPrice(payment);
  return (
    <div className="payment-sum">
      <strong>
        <Amount {...total} />
      </strong>
      {fee === null ? null : (
        <span className="soft small">
          {t('ui.service_fee')} <Amount {...fee} />
        </span>
      )}
      {payment.tip === 0 ? null : (
        <span className="soft small">
          {rich('wallet.history.tip', {
            sum: () => <Amount atoms={tip} price={paidTip(payment.presentment)} unit={false} />,
          })}
        </span>
      )}
      {signed === null ? null : (
        <span className="small">
          {t('wallet.history.other_price', {
            signed: formatPrice({ ...signed, units: BigInt(signed.amount) }),
          })}
        </span>
      )}
      {payment.amount_refunded === 0 ? null : (
        <span className="small">
          {rich('wallet.history.refunded', {
            sum: () => (
              <Amount atoms={refunded} price={sharePrice(payment, refunded)} unit={false} />
            ),
          })}
        </span>
      )}
    </div>
  );
}

export function PaymentRow({ payment }: { readonly payment: PayerPayment }): ReactNode {
  const receipt = receiptPath(payment.receipt_url);
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
          <span className="soft small">{t('wallet.history.fixed_code')}</span>
        ) : null}
        {receipt === null ? null : (
          <a className="small" href={receipt}>
            {t('wallet.history.receipt')}
          </a>
        )}
      </div>
      <PaymentSums payment={payment} />
    </li>
  );
}
