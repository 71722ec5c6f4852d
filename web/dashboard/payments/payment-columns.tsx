import type { ReactNode } from 'react';
import type { Payment } from '../../data/types/dashboard.ts';
import { shortAddress } from '../../ui/address.ts';
import { Identicon } from '../../ui/identicon.tsx';
import { paidSum, paidTip } from '../../ui/quoted-price.ts';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { TerminalName } from '../terminals/terminal-names.tsx';
import { SaleSum } from './sale-sum.tsx';
import { soldText } from './sold-text.ts';

function Customer({ wallet }: { readonly wallet: string }): ReactNode {
  return (
    <span className="customer" title={wallet} translate="no">
      <Identicon address={wallet} />
      <span className="id">{shortAddress(wallet)}</span>
    </span>
  );
}

export const paymentColumns = (): readonly Column<Payment>[] => [
  {
    name: t('dashboard.field.amount'),
    number: true,
    cell: (payment) => (
      <SaleSum
        id={payment.id}
        tip={payment.tip}
        {...paidSum(payment)}
        tipPrice={paidTip(payment.presentment)}
      />
    ),
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  {
    name: t('dashboard.payment.sold.column'),
    cell: (payment) => {
      const sold = soldText(payment);
      return sold === null ? <span className="id">{payment.order_id}</span> : given(sold);
    },
  },
  { name: t('dashboard.field.terminal'), cell: ({ terminal }) => <TerminalName id={terminal} /> },
  {
    name: t('dashboard.payment_columns.customer.column'),
    cell: ({ payer }) => <Customer wallet={payer} />,
  },
  {
    name: t('dashboard.payment_columns.paid.column'),
    cell: ({ settled_at }) => <Time at={settled_at} />,
  },
];
