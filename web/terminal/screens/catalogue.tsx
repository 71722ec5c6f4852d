import { type CSSProperties, type ReactNode, useCallback, useEffect, useState } from 'react';
import type { CatalogueItem } from '../../data/device-api.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatMoney } from '../../ui/format-price.ts';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { t } from '../../ui/text/t.ts';
import { addItem } from '../cart.ts';
import { goTo } from '../page-path.ts';
import { tillCurrency } from '../till-currency.ts';
import { CartPart } from './cart-part.tsx';
import { NotOpened } from './not-opened.tsx';
import type { TillContext } from './till-context.ts';
import './catalogue.css';

interface Loaded {
  /** `null` while loading. */
  readonly items: readonly CatalogueItem[] | null;
  readonly failed: boolean;
  readonly reload: () => void;
}

/** Loads the shop's items, and reloads them when the connection returns. */
function useCatalogue({ api, view }: TillContext): Loaded {
  const { reached } = view;
  const [items, setItems] = useState<readonly CatalogueItem[] | null>(null);
  const [failed, setFailed] = useState(false);
  const [round, setRound] = useState(0);
  // The effect reads `round` and `reached` only so that their changes trigger another load.
  useEffect(() => {
    let isCurrent = round >= 0 && reached;
    void api.catalogue().then((answer) => {
      if (!isCurrent) return;
      if (answer.is === 'done') setItems(answer.value.data);
      setFailed(answer.is !== 'done');
    });
    return () => {
      isCurrent = false;
    };
  }, [api, round, reached]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { items, failed, reload };
}

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

/** Shows the shop's items as buttons, above the cart. */
export function CatalogueScreen(context: TillContext): ReactNode {
  const { view, runner } = context;
  const { items, failed, reload } = useCatalogue(context);
  const known = tillCurrency(context);
  const currency = known ?? null;
  // A sale cannot mix currencies.
  const shown = items?.filter((item) => item.currency === currency) ?? null;
  const kept = view.till.cart;
  const cart = kept?.currency === currency ? kept : null;
  return (
    <div className="catalogue">
      <title>{t('till.catalogue.page')}</title>
      <div className="stack catalogue-items">
        <h1 className="unseen">{t('till.catalogue.heading')}</h1>
        <NotOpened phase={view.till.phase} />
        {failed ? (
          <Notice tone="warn" role="alert">
            <p>{t('till.catalogue.problem')}</p>
            <Button onClick={reload}>{t('till.try_again')}</Button>
          </Notice>
        ) : null}
        {shown === null && !failed ? (
          <Skeleton shape="rows">{t('till.catalogue.loading')}</Skeleton>
        ) : null}
        {shown?.length === 0 ? <NoItems /> : null}
        <ul className="items">
          {shown?.map((item) => (
            <li key={item.id}>
              <Item
                item={item}
                onAdd={() => runner.dispatch({ type: 'cart', cart: addItem(cart, item, currency) })}
              />
            </li>
          ))}
        </ul>
      </div>
      <CartPart {...context} cart={cart} isKnown={known !== undefined} />
    </div>
  );
}
