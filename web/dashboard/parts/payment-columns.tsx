import type { Payment } from '../../data/types/dashboard.ts';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Customer } from './customer.tsx';
import { SaleSum } from './sale-sum.tsx';
import { TerminalName } from './terminal-names.tsx';

export const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { name: 'Amount', number: true, cell: (payment) => <SaleSum {...payment} /> },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: 'Order', cell: ({ order_id }) => <span className="id">{order_id}</span> },
  { name: 'Terminal', cell: ({ terminal }) => <TerminalName id={terminal} /> },
  { name: 'Customer', cell: ({ payer }) => <Customer wallet={payer} /> },
  { name: 'Paid', cell: ({ settled_at }) => <Time at={settled_at} /> },
];
