import { type CSSProperties, type ReactNode, useState } from 'react';
import type { CatalogueItem } from '../../data/device-api.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatMoney } from '../../ui/format-price.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { t } from '../../ui/text/t.ts';
import { addItem, type Sellable } from '../cart.ts';
import { goTo } from '../page-path.ts';
import { tillCurrency } from '../till-currency.ts';
import { OptionsDialog } from './cart-dialogs.tsx';
import { CartPart } from './cart-part.tsx';
import { NotOpened } from './not-opened.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded, useLoaded } from './use-loaded.tsx';
import './catalogue.css';

interface ItemProps {
  readonly item: CatalogueItem;
  readonly onAdd: () => void;
}

function Item({ item, onAdd }: ItemProps): ReactNode {
  const { name, unit_amount: price, currency, color } = item;
  // Set through the DOM, because the page's CSP forbids `style` attributes.
  const style = color === null ? undefined : ({ '--item-color': color } as CSSProperties);
  return (
    <button type="button" className="item" style={style} onClick={onAdd}>
      <bdi className="item-name">{name}</bdi>
      <span className="amount">{formatMoney(BigInt(price), currency)}</span>
    </button>
  );
}

function NoItems(): ReactNode {
  return (
    <EmptyState
      title={t('till.catalogue.empty.heading')}
      action={<Button onClick={() => goTo('')}>{t('till.catalogue.empty.button')}</Button>}
    >
      {t('till.catalogue.empty.text')}
    </EmptyState>
  );
}

export function CatalogueScreen(context: TillContext): ReactNode {
  const { api, view, runner } = context;
  const { value: loaded, failed, reload } = useLoaded(api.catalogue, view.reached);
  const known = tillCurrency(context);
  const currency = known ?? null;
  // A sale cannot mix currencies.
  const shown = loaded?.data.filter((item) => item.currency === currency) ?? null;
  const kept = view.till.cart;
  const cart = kept?.currency === currency ? kept : null;
  const [choosing, setChoosing] = useState<CatalogueItem | null>(null);
  const add = (item: Sellable) => {
    setChoosing(null);
    runner.dispatch({ type: 'cart', cart: addItem(cart, item, currency) });
  };
  return (
    <div className="catalogue">
      <title>{t('till.catalogue.page')}</title>
      <div className="stack catalogue-items">
        <h1 className="unseen">{t('till.catalogue.heading')}</h1>
        <NotOpened phase={view.till.phase} />
        {failed ? <NotLoaded words={t('till.catalogue.problem')} onRetry={reload} /> : null}
        {shown === null && !failed ? (
          <Skeleton shape="rows">{t('till.catalogue.loading')}</Skeleton>
        ) : null}
        {shown?.length === 0 ? <NoItems /> : null}
        <ul className="items">
          {shown?.map((item) => (
            <li key={item.id}>
              <Item
                item={item}
                onAdd={() => (item.options.length === 0 ? add(item) : setChoosing(item))}
              />
            </li>
          ))}
        </ul>
      </div>
      {choosing === null ? null : (
        <OptionsDialog item={choosing} onClose={() => setChoosing(null)} onAdd={add} />
      )}
      <CartPart {...context} cart={cart} isKnown={known !== undefined} />
    </div>
  );
}
