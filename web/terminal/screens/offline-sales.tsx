import { type ReactNode, useEffect } from 'react';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Status } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { bounceWords, stateLook } from '../offline/bounce-words.ts';
import { type HeldSale, recordOf, slipOf, toForward } from '../offline/held-sales.ts';
import type { TillContext } from './till-context.ts';

function Entry({ sale }: { readonly sale: HeldSale }): ReactNode {
  const { state } = sale;
  const { tone, word } = stateLook(sale);
  return (
    <li className="entry">
      <span className="entry-what">
        <Amount atoms={BigInt(sale.amount)} price={slipOf(sale).price ?? null} />
        <span className="soft small">
          <Time at={sale.acceptedAt} shape="clock" />
          {' · '}
          <bdi translate="no">{slipOf(sale).code}</bdi>
        </span>
        {state.is === 'bounced' ? <span className="small">{bounceWords(state.reason)}</span> : null}
        {state.is === 'unread' ? (
          <span className="small">
            {t('till.offline_sale.list.unread_text')} <bdi translate="no">{state.code}</bdi>
          </span>
        ) : null}
      </span>
      <Status tone={tone}>{word}</Status>
    </li>
  );
}

/**
 * Saves waiting sales to a file that an admin can submit if this till can no longer forward them.
 */
export function SaveSales({ sales }: { readonly sales: readonly HeldSale[] }): ReactNode {
  const save = () => {
    const payments = toForward(sales).map(recordOf);
    saveFile([JSON.stringify({ payments })], 'offline-sales.json');
  };
  return (
    <>
      <p>{t('till.offline_sale.save_text')}</p>
      <Button onClick={save}>{t('till.offline_sale.save_button')}</Button>
    </>
  );
}

interface OfflineSalesProps extends TillContext {
  /** The ids of the payments in the list below, which shows these sales already. */
  readonly listed: ReadonlySet<string>;
}

export function OfflineSales({ offline, listed }: OfflineSalesProps): ReactNode {
  const { view, till: offlineTill } = offline;
  const { sales } = view;
  const isListed = ({ state }: HeldSale) =>
    state.is === 'succeeded' && state.payment != null && listed.has(state.payment);
  const shown = sales.filter((sale) => !isListed(sale));
  useEffect(() => {
    if (sales.some(({ state }) => state.is === 'bounced' && !state.isSeen)) {
      void offlineTill().then((till) => till?.see());
    }
  }, [offlineTill, sales]);
  if (shown.length === 0) return null;
  return (
    <section className="stack">
      <h2>{t('till.offline_sale.list.heading')}</h2>
      <ul className="entries">
        {shown.toReversed().map((sale) => (
          <Entry key={sale.nonce} sale={sale} />
        ))}
      </ul>
    </section>
  );
}
