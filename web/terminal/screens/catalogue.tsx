import { type CSSProperties, type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { CatalogueItem } from '../../data/device-api.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatMoney } from '../../ui/format-price.ts';
import { Drawing } from '../../ui/icon.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { t } from '../../ui/text/t.ts';
import { addItem, type Sellable } from '../cart.ts';
import { matchingItems, UNSORTED } from '../find-items.ts';
import { goTo } from '../page-path.ts';
import { tillCurrency } from '../till-currency.ts';
import { itemsOnSale } from '../till-pages.ts';
import { OptionsDialog, OtherAmountDialog } from './cart-dialogs.tsx';
import { CartPart, PATHS } from './cart-part.tsx';
import { ScanDialog } from './lazy-parts.ts';
import { NotOpened } from './not-opened.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded } from './use-loaded.tsx';
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
      action={<Button onClick={() => goTo('keypad')}>{t('till.catalogue.empty.button')}</Button>}
    >
      {t('till.catalogue.empty.text')}
    </EmptyState>
  );
}

interface CategoriesProps {
  /** The names, in the order of their first items; `UNSORTED` for items without one. */
  readonly names: readonly (string | null)[];
  /** `null` for all items. */
  readonly chosen: string | null;
  readonly onChosen: (name: string | null) => void;
}

function Categories({ names, chosen, onChosen }: CategoriesProps): ReactNode {
  return (
    <fieldset className="categories">
      <legend className="unseen">{t('till.catalogue.category')}</legend>
      {[null, ...names].map((name) => (
        <label key={name ?? ''} className="category">
          <input
            type="radio"
            name="category"
            checked={chosen === name}
            onChange={() => onChosen(name)}
          />
          <bdi>{categoryWords(name)}</bdi>
        </label>
      ))}
    </fieldset>
  );
}

function categoryWords(name: string | null): string {
  if (name === null) return t('till.catalogue.all');
  return name === UNSORTED ? t('till.catalogue.unsorted') : name;
}

interface FindProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  /** Called for Enter, which adds the only item that is left. */
  readonly onEnter: () => void;
}

function Search({ text, onText, onEnter }: FindProps): ReactNode {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onEnter();
  };
  return (
    <form className="items-search" onSubmit={submit}>
      <input
        data-name="Search items"
        className="input"
        aria-label={t('till.catalogue.search')}
        placeholder={t('till.catalogue.search')}
        type="search"
        autoComplete="off"
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    </form>
  );
}

/** Reads a barcode with the camera. */
function ScanButton({ onCode }: { readonly onCode: (text: string) => void }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="cart-button"
        aria-label={t('till.catalogue.scan')}
        onClick={() => setIsOpen(true)}
      >
        <Drawing path={PATHS.scan} />
      </button>
      {isOpen ? (
        <ScanDialog
          title={t('till.catalogue.scan')}
          barcodes
          onClose={() => setIsOpen(false)}
          onCode={(text) => {
            setIsOpen(false);
            onCode(text);
          }}
        />
      ) : null}
    </>
  );
}

/** Says that a scanned barcode belongs to no item, until the next item is added. */
function UnknownBarcode({ isShown }: { readonly isShown: boolean }): ReactNode {
  return isShown ? (
    <Notice tone="warn" role="status">
      <p>{t('till.catalogue.unknown_barcode')}</p>
    </Notice>
  ) : null;
}

/** Puts items into the cart, and asks for the options of those that have some. */
function useCart(context: TillContext) {
  const { runner, view, scanned } = context;
  const currency = tillCurrency(context) ?? null;
  const kept = view.till.cart;
  const cart = kept?.currency === currency ? kept : null;
  const [choosing, setChoosing] = useState<CatalogueItem | null>(null);
  const add = (item: Sellable) => {
    setChoosing(null);
    scanned.forget();
    runner.dispatch({ type: 'cart', cart: addItem(cart, item, currency) });
  };
  const pick = (item: CatalogueItem) => (item.options.length === 0 ? add(item) : setChoosing(item));
  const { item: read } = scanned;
  useEffect(() => {
    if (read === null || read === 'unknown') return;
    scanned.forget();
    pick(read);
  });
  return { cart, currency, choosing, setChoosing, add, pick };
}

interface ChoiceProps {
  readonly items: readonly CatalogueItem[];
  readonly onPick: (item: CatalogueItem) => void;
  /** Called with a barcode of the camera, or a text that finds no item. */
  readonly onCode: (text: string) => void;
  /** The button for an amount without an item. */
  readonly other: ReactNode;
}

function ItemChoice({ items, onPick, onCode, other }: ChoiceProps): ReactNode {
  const [text, setText] = useState('');
  const [category, setCategory] = useState<string | null>(null);
  const names = [...new Set(items.map((item) => item.category ?? UNSORTED))];
  const shown = matchingItems(items, { text, category: names.length > 1 ? category : null });
  const enter = () => {
    const [only, second] = shown;
    if (text === '' || second !== undefined) return;
    if (only === undefined) return onCode(text);
    setText('');
    onPick(only);
  };
  return (
    <>
      <div className="items-find">
        <Search text={text} onText={setText} onEnter={enter} />
        <ScanButton onCode={onCode} />
        {other}
      </div>
      {names.length > 1 ? (
        <Categories names={names} chosen={category} onChosen={setCategory} />
      ) : null}
      {shown.length === 0 ? <p className="soft">{t('till.catalogue.nothing_found')}</p> : null}
      <ul className="items">
        {shown.map((item) => (
          <li key={item.id}>
            <Item item={item} onAdd={() => onPick(item)} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** What stands in place of the items until there are some. */
function WithoutItems({ catalogue }: Pick<TillContext, 'catalogue'>): ReactNode {
  if (catalogue.items !== null) return <NoItems />;
  if (catalogue.failed) return null;
  return <Skeleton shape="rows">{t('till.catalogue.loading')}</Skeleton>;
}

export function CatalogueScreen(context: TillContext): ReactNode {
  const { catalogue, view, scanned, settings } = context;
  const { cart, currency, choosing, setChoosing, add, pick } = useCart(context);
  const [typing, setTyping] = useState(false);
  const items = itemsOnSale(context);
  const other = (
    <Button data-name="Other amount" onClick={() => setTyping(true)}>
      {t('till.catalogue.other_amount')}
    </Button>
  );
  return (
    <div className="catalogue">
      <title>{t('till.catalogue.page')}</title>
      <div className="catalogue-items">
        <h1 className="unseen">{t('till.catalogue.heading')}</h1>
        <NotOpened phase={view.till.phase} />
        {catalogue.failed && view.reached ? (
          <NotLoaded words={t('till.catalogue.problem')} onRetry={catalogue.reload} />
        ) : null}
        <UnknownBarcode isShown={scanned.item === 'unknown'} />
        {items.length === 0 ? (
          <WithoutItems catalogue={catalogue} />
        ) : (
          <ItemChoice items={items} onPick={pick} onCode={scanned.take} other={other} />
        )}
      </div>
      {choosing === null ? null : (
        <OptionsDialog item={choosing} onClose={() => setChoosing(null)} onAdd={add} />
      )}
      {typing ? (
        <OtherAmountDialog
          currency={currency}
          taxRate={context.device?.default_tax_basis_points ?? settings.taxRate ?? null}
          onClose={() => setTyping(false)}
          onAdd={(amount) => {
            setTyping(false);
            add(amount);
          }}
        />
      ) : null}
      <CartPart {...context} cart={cart} isKnown={tillCurrency(context) !== undefined} />
    </div>
  );
}
