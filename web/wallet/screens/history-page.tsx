import { type ReactNode, useEffect, useRef } from 'react';
import type { PayerPayment } from '../../data/payer-api.ts';
import type { Movement, MovementList } from '../../data/types/payer.ts';
import { endOfAddress } from '../../ui/address.ts';
import { Amount } from '../../ui/amount.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { type Pages, rowsOf, useMovements, usePayments, useWallet } from '../wallet-reads.ts';
import { PaymentRow } from './history.tsx';
import { PagedList } from './paged-list.tsx';

/** What leaves the wallet; the other types reach it. */
const OUT: ReadonlySet<Movement['type']> = new Set(['payment', 'sent']);

function titleOf({ type, with: other, tx_hash: hash }: Movement): string {
  switch (type) {
    case 'payment':
      return other ?? t('wallet.history.payment');
    case 'refund':
      return t('wallet.history.refund');
    case 'faucet':
      return t('wallet.history.faucet');
    case 'sent':
      return t(hash === null ? 'wallet.history.small_sent' : 'wallet.history.sent');
    case 'received':
      return t(hash === null ? 'wallet.history.small_received' : 'wallet.history.received');
  }
}

/** Names the other side below the title, a shop or an address. */
function Other({ type, with: other }: Movement): ReactNode {
  if (other === null || type === 'payment' || type === 'faucet') return null;
  return (
    <span className="soft small">
      {type === 'refund' ? <bdi translate="no">{other}</bdi> : endOfAddress(other)}
    </span>
  );
}

function MovementRow({ movement }: { readonly movement: Movement }): ReactNode {
  const { type, status, amount, created } = movement;
  return (
    <li className="payment">
      <div className="payment-who">
        <strong>
          <bdi>{titleOf(movement)}</bdi>
        </strong>
        <Other {...movement} />
        <span className="soft small">
          <Time at={created} />
        </span>
        {status === 'pending' ? <span className="small">{t('wallet.history.pending')}</span> : null}
      </div>
      <div className="payment-sum">
        <strong>
          <span>{OUT.has(type) ? '−' : '+'}</span> <Amount atoms={BigInt(amount)} />
        </strong>
      </div>
    </li>
  );
}

/** Loads payments until each shown movement of one has its payment, with receipt and price. */
function usePaymentsOf(movements: readonly Movement[], payments: Pages<PayerPayment>) {
  const byId = new Map((rowsOf(payments) ?? []).map((payment) => [payment.id, payment]));
  const lacks = movements.some(({ type, payment }) => {
    return type === 'payment' && payment !== null && !byId.has(payment);
  });
  const { hasNextPage, isFetching, fetchNextPage } = payments;
  useEffect(() => {
    if (lacks && hasNextPage && !isFetching) void fetchNextPage();
  }, [lacks, hasNextPage, isFetching, fetchNextPage]);
  return byId;
}

/** Loads the movements again after one that changed the balance, while the page is open. */
function useRefetchOnChange(balance: number | undefined, refetch: () => unknown): void {
  const known = useRef(balance);
  useEffect(() => {
    const hasChanged = known.current !== undefined && known.current !== balance;
    known.current = balance;
    if (hasChanged) void refetch();
  }, [balance, refetch]);
}

/** Says from when on the list is complete, and where the rest is. */
function Since({ since, explorer_url: explorer }: Pick<MovementList, 'since' | 'explorer_url'>) {
  return (
    <p className="soft small">
      {rich('wallet.history.since', { time: () => <Time at={since} /> })}
      {explorer === null ? null : (
        <>
          {' '}
          <a href={explorer} target="_blank" rel="noopener noreferrer">
            {t('wallet.history.older')}
          </a>
        </>
      )}
    </p>
  );
}

/** Lists all movements of the wallet's USDC; its payments alone while no node answers. */
export function HistoryPage(): ReactNode {
  const payments = usePayments();
  const movements = useMovements();
  const balance = useWallet().data?.balance;
  useRefetchOnChange(balance, movements.refetch);
  const byId = usePaymentsOf(rowsOf(movements) ?? [], payments);
  const about = movements.data?.pages[0];
  const empty = { title: t('wallet.no_payments'), text: t('wallet.history.empty.text') };
  return (
    <>
      <title>{t('wallet.history.page')}</title>
      <h1>{t('wallet.history.heading')}</h1>
      {movements.isError ? (
        <PagedList
          {...{ pages: payments, empty, className: 'payments' }}
          row={(payment) => <PaymentRow key={payment.id} payment={payment} />}
        />
      ) : (
        <PagedList
          {...{ pages: movements, empty, className: 'payments' }}
          row={(movement) => {
            const payment = movement.type === 'payment' ? byId.get(movement.payment ?? '') : null;
            if (payment != null) return <PaymentRow key={movement.id} payment={payment} />;
            return <MovementRow key={movement.id} movement={movement} />;
          }}
        />
      )}
      {about === undefined ? null : <Since {...about} />}
    </>
  );
}
