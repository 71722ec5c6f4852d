import { type ReactNode, useState } from 'react';
import { useParams } from 'wouter';
import { leftWallet } from '../../data/left-wallet.ts';
import { receiptPath } from '../../data/receipt-path.ts';
import type { Payment } from '../../data/types/dashboard.ts';
import { List } from '../../desk/list.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Sum } from '../../ui/sum.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { Course } from '../parts/course.tsx';
import { ObjectLink } from '../parts/object-link.tsx';
import { OtherMode } from '../parts/other-mode.tsx';
import { leftOf, RefundDialog, refundWish } from '../parts/refund-dialog.tsx';
import { TerminalLink } from '../parts/terminal-names.tsx';
import { REFUND_COLUMNS } from './refunds.tsx';

export function PaymentPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /accounts/{account}/{mode}/payments/{id}', { path: { id } });
  const [isRefunding, setIsRefunding] = useState(() => refundWish() !== null);
  const { may } = useMerchant();
  const payment = query.data;
  const canRefund = payment !== undefined && leftOf(payment) > 0n;
  return (
    <Page
      title="Payment"
      actions={
        canRefund && may('member') ? (
          <Button onClick={() => setIsRefunding(true)}>Refund</Button>
        ) : null
      }
    >
      <Loaded query={query} missing={<OtherMode />}>
        {(found) => <PaymentView payment={found} />}
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
      <div className="headline">
        <Sum atoms={leftWallet(payment)} />
        <ObjectStatus status={payment.status} />
        <CopyId id={payment.id} />
      </div>
      <div className="columns">
        <Course intent={intent} payment={payment} />
        <div className="stack">
          <Sums payment={payment} />
          <Origin payment={payment} />
          <Proof payment={payment} />
        </div>
      </div>
      {payment.amount_refunded > 0 ? <RefundsOf payment={payment} /> : null}
    </>
  );
}

function atoms(value: number): ReactNode {
  return <Amount exact atoms={BigInt(value)} />;
}

function Sums({ payment }: { readonly payment: Payment }): ReactNode {
  const { fees, tip } = payment;
  return (
    <section className="card stack">
      <h2>Money</h2>
      <FactList>
        <Fact name="You get">{atoms(payment.net)}</Fact>
        <Fact name="Tip, included">{tip === 0 ? null : atoms(tip)}</Fact>
        <Fact name="Customer paid">
          <Amount exact atoms={leftWallet(payment)} />
        </Fact>
        <Fact name="Acquirer fee">{atoms(fees.acquirer)}</Fact>
        <Fact name="Protocol fee">{atoms(fees.protocol)}</Fact>
        <Fact name="Cashback">{fees.cashback === 0 ? null : atoms(fees.cashback)}</Fact>
        <Fact name="Refunded">
          {payment.amount_refunded === 0 ? null : atoms(payment.amount_refunded)}
        </Fact>
      </FactList>
      <p className="soft small">The customer pays the fees on top; you receive the full sale.</p>
    </section>
  );
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  nfc_id: 'Wallet pass',
  nfc_sun: 'Chip card',
  qr: 'Wallet app code',
  smart_tap: 'Phone (Google Wallet)',
  apple_vas: 'Phone (Apple Wallet)',
  agent_token: 'Agent token',
  authorization: 'Any wallet, using the code on the terminal',
  chip: 'Signing chip',
};

function Origin({ payment }: { readonly payment: Payment }): ReactNode {
  const { credential } = payment.payment_method;
  const receipt = receiptPath(payment.receipt_url);
  return (
    <section className="card stack">
      <h2>Sale</h2>
      <FactList>
        <Fact name="Order">
          <span className="id">{payment.order_id}</span>
        </Fact>
        <Fact name="Terminal">
          <TerminalLink id={payment.terminal} />
        </Fact>
        <Fact name="Paid by">{CREDENTIALS[credential] ?? 'Unknown'}</Fact>
        <Fact name="Wallet">
          <span className="id">{payment.payer}</span>
        </Fact>
        <Fact name="Intent">
          <ObjectLink id={payment.payment_intent} />
        </Fact>
        <Fact name="Part of a split">{payment.split_group}</Fact>
        <Fact name="Can be refunded until">
          <Time at={payment.refundable_until} shape="day" />
        </Fact>
        <Fact name="Message to the customer">{payment.customer_message}</Fact>
      </FactList>
      {receipt === null ? null : (
        <p>
          <a href={receipt}>Receipt</a>
          <span className="soft small">, the page that the customer can open and print</span>
        </p>
      )}
    </section>
  );
}

function Proof({ payment }: { readonly payment: Payment }): ReactNode {
  return (
    <section className="card stack">
      <h2>Proof on the chain</h2>
      <p className="soft small">
        Anyone can look up this transaction. Its log entry {payment.log_index} names your merchant
        number, this amount and this order.
      </p>
      <CopyField label="Transaction" value={payment.tx_hash} />
      <FactList>
        <Fact name="Chain">{`${payment.chain_id} (${payment.network})`}</Fact>
        <Fact name="Block">{String(payment.block_number)}</Fact>
        <Fact name="Log entry">{String(payment.log_index)}</Fact>
        <Fact name="Block time">
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
      <h2>Refunds</h2>
      <List
        label="Refunds of this payment"
        query={query}
        columns={REFUND_COLUMNS}
        inPairs
        keyOf={({ id }) => id}
        empty={null}
      />
    </section>
  );
}
