import { type ReactNode, useCallback, useEffect, useRef } from 'react';
import type { Payment } from '../../data/device-api.ts';
import { endOfAddress } from '../../ui/address.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { paidTotal, sumWords } from '../../ui/paid-total.ts';
import { quantityText } from '../../ui/quantity-text.ts';
import { paidPrice, paidTip, sharePrice } from '../../ui/quoted-price.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Fact, FactList, Facts } from '../../ui/table.tsx';
import { Time, ZoneNote } from '../../ui/time.tsx';
import { Money } from '../../ui/typed-money.tsx';
import { goTo } from '../page-path.ts';
import { paymentsSince } from '../payments-since.ts';
import { FindLink } from './find-link.tsx';
import { OfflineSales } from './lazy-parts.ts';
import { ReceiptButton } from './receipt-part.tsx';
import { RefundPart } from './refund.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded, useLoaded } from './use-loaded.tsx';
import './sales-history.css';
import { named } from '#i18n/bidi-isolates.ts';
import { linePrice } from '#prices/sale-lines.ts';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';

type Line = NonNullable<Payment['line_items']>[number];

function soldWords({ quantity, name }: Line): string {
  return t('till.history.item', { quantity: quantityText(quantity), name });
}

/** What was sold, with prices before the discount on the sale. */
function SoldItems({ payment }: { readonly payment: Payment }): ReactNode {
  const { line_items: lines, discount, presentment } = payment;
  if (lines === null) return null;
  const currency = presentment?.currency ?? null;
  return (
    <section className="card stack">
      <h2>{t('till.history.items')}</h2>
      <FactList>
        {[...lines.entries()].map(([at, line]) => (
          <Fact key={at} name={soldWords(line)}>
            <Money units={linePrice(line)} currency={currency} />
          </Fact>
        ))}
        {discount === 0 ? null : (
          <Fact name={t('till.cart.discount')}>
            <Money units={BigInt(-discount)} currency={currency} />
          </Fact>
        )}
      </FactList>
    </section>
  );
}

function Row({ payment }: { readonly payment: Payment }): ReactNode {
  const { id, amount, presentment, status, created } = payment;
  const { order_id: order, line_items: lines } = payment;
  const { total } = paidTotal(payment);
  const gets = paidPrice(presentment);
  return (
    <li>
      <a
        className="entry"
        href={`terminal/history/${id}`}
        onClick={(event) => {
          event.preventDefault();
          goTo(`history/${id}`);
        }}
      >
        <span className="entry-what">
          <span>
            <span className="soft">{t('ui.total')}</span> <Amount still {...total} />
          </span>
          <span className="soft small">
            {rich('till.history.you_get', {
              sum: () => (
                <span className="amount">{sumWords({ atoms: BigInt(amount), price: gets })}</span>
              ),
            })}
          </span>
          <span className="soft small">
            <Time at={created} shape="clock" /> · {t('till.history.order_number', { order })}
          </span>
          {lines === null ? null : (
            <span className="soft small entry-items">{lines.map(soldWords).join(', ')}</span>
          )}
          <span className="unseen">{id}</span>
        </span>
        <ObjectStatus status={status} />
      </a>
    </li>
  );
}

export function PaymentPage({
  payment,
  reload,
  ...context
}: TillContext & { readonly payment: Payment; readonly reload: () => void }): ReactNode {
  const refunded = BigInt(payment.amount_refunded);
  const tip = BigInt((payment as { tip?: number }).tip ?? 0);
  const { presentment } = payment;
  const { total, fee } = paidTotal(payment);
  return (
    <div className="stack">
      <title>{t('till.history.payment_page')}</title>
      <div className="row row-apart">
        <h1>
          <Amount {...total} />
        </h1>
        <ObjectStatus status={payment.status} />
      </div>
      <ZoneNote />
      <Facts
        facts={[
          [t('ui.total'), <Amount key="total" {...total} />],
          [
            t('till.outcome.you_get'),
            <Amount key="get" atoms={BigInt(payment.amount)} price={paidPrice(presentment)} />,
          ],
          [t('till.history.time'), <Time key="time" at={payment.created} />],
          [
            t('till.history.receipt'),
            payment.receipt_number === null ? null : named(payment.receipt_number),
          ],
          [t('till.history.order'), named(payment.order_id)],
          [
            t('till.history.tip'),
            tip === 0n ? null : <Amount key="tip" atoms={tip} price={paidTip(presentment)} />,
          ],
          [
            t('till.history.refunded'),
            refunded === 0n ? null : (
              <Amount key="refunded" atoms={refunded} price={sharePrice(payment, refunded)} />
            ),
          ],
          [t('ui.service_fee'), fee === null ? null : <Amount key="fee" {...fee} />],
          [
            t('till.history.wallet'),
            payment.payer === undefined ? null : endOfAddress(payment.payer),
          ],
        ]}
      />
      <SoldItems payment={payment} />
      <ReceiptButton api={context.api} payment={payment} />
      <RefundPart {...context} payment={payment} onDone={reload} />
      <Button onClick={() => goTo('history')}>{t('till.history.all_button')}</Button>
    </div>
  );
}

/**
 * Lists the payments of the shift. `last` opens the newest one, for the question "Did the last one
 * go through?"
 */
export function HistoryScreen(
  context: TillContext & { readonly paymentId: string | null },
): ReactNode {
  const { paymentId, api, settings, view, offline } = context;
  const since = settings.shiftSince ?? '';
  const load = useCallback(() => paymentsSince(api, since), [api, since]);
  const { value: payments, failed, reload } = useLoaded(load, view.reached);
  // Reads the list again when an offline sale is paid, because it is then a payment.
  const paid = offline.view.sales.filter(({ state }) => state.is === 'succeeded').length;
  const known = useRef(paid);
  useEffect(() => {
    if (paid > known.current) reload();
    known.current = paid;
  }, [paid, reload]);
  const selected =
    paymentId === 'last' ? payments?.[0] : payments?.find(({ id }) => id === paymentId);
  if (paymentId !== null && selected !== undefined) {
    return <PaymentPage key={selected.id} {...context} payment={selected} reload={reload} />;
  }
  return (
    <div className="stack">
      <title>{t('till.history.page')}</title>
      <div className="row row-apart">
        <h1>{t('till.history.heading')}</h1>
        <div className="row history-ways">
          <FindLink />
          <Button onClick={reload}>{t('till.history.refresh_button')}</Button>
        </div>
      </div>
      <ZoneNote />
      {offline.view.sales.length === 0 ? null : (
        <OfflineSales {...context} listed={new Set(payments?.map(({ id }) => id))} />
      )}
      {failed ? <NotLoaded words={t('till.history.problem')} onRetry={reload} /> : null}
      {payments === null && !failed ? (
        <Skeleton shape="rows">{t('till.history.loading')}</Skeleton>
      ) : null}
      {payments?.length === 0 ? (
        <EmptyState
          title={t('till.history.empty.heading')}
          action={<Button onClick={() => goTo('')}>{t('till.history.empty.button')}</Button>}
        >
          {t('till.history.empty.text')}
        </EmptyState>
      ) : null}
      <ul className="entries">
        {payments?.map((payment) => (
          <Row key={payment.id} payment={payment} />
        ))}
      </ul>
    </div>
  );
}
