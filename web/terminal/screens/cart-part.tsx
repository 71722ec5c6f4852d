import { type ReactNode, useEffect, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { allowBy, type Device } from '../../data/device-api.ts';
import { Button } from '../../ui/button.tsx';
import { formatMoney } from '../../ui/format-price.ts';
import { Drawing } from '../../ui/icon.tsx';
import type { CART_ICONS } from '../../ui/icon-names.ts';
import { rateText } from '../../ui/percent.ts';
import { quantityText } from '../../ui/quantity-text.ts';
import { t } from '../../ui/text/t.ts';
import { Money } from '../../ui/typed-money.tsx';
import {
  type Cart,
  type CartLine,
  cartTotal,
  changeLine,
  isDiscounted,
  lessOne,
  lineKey,
  linesTotal,
  lineTotal,
  plusOne,
} from '../cart.ts';
import { charge, chargeWords } from '../charge.ts';
import { createOfCart } from '../charge-cart.ts';
import { tillCurrency } from '../till-currency.ts';
import type { HeldCart, Phase } from '../till-phases.ts';
import {
  HeldDialog,
  HoldDialog,
  RestOfCart,
  SplitCartDialog,
  useHeldCarts,
} from './cart-aside.tsx';
import { DiscountDialog, LineDialog } from './cart-dialogs.tsx';
import { ManagerDialog } from './lazy-parts.ts';
import { MANAGER_CODE_LENGTH, ManagerCodeField } from './manager-code-field.tsx';
import type { TillContext } from './till-context.ts';

/** SVG paths that the build inserts: see ui/icon-paths.ts. */
export const PATHS = import.meta.env.VITE_CART_ICONS as Readonly<
  Record<keyof typeof CART_ICONS, string>
>;

/** Returns the name of a preset, or the percentage; `null` for a sum. */
function discountWords(given: {
  readonly name: string | null | undefined;
  readonly rate: number | null | undefined;
}): string | null {
  if (given.name != null) return named(given.name);
  return given.rate == null ? null : t('till.cart.line_discount', { sum: rateText(given.rate) });
}

interface LineProps {
  readonly line: CartLine;
  readonly currency: string | null;
  readonly onLess: () => void;
  readonly onMore: () => void;
  readonly onChange: () => void;
}

function Line({ line, currency, onLess, onMore, onChange }: LineProps): ReactNode {
  const { name, quantity, unit_amount: price, discount, discount_rate: rate } = line;
  const less = discountWords({ name: line.discount_name, rate });
  const off = formatMoney(BigInt(-discount), currency);
  const each = formatMoney(BigInt(price), currency);
  return (
    <li className="cart-line">
      <span className="cart-what">
        <button
          type="button"
          className="cart-edit"
          aria-label={t('till.cart.edit', { name })}
          onClick={onChange}
        />
        <bdi className="cart-name">{name}</bdi>
        <span className="soft small">
          {t('till.cart.line', { quantity: quantityText(quantity), price: each })}
        </span>
        {discount === 0 ? null : (
          <span className="soft small">
            {less === null
              ? t('till.cart.line_discount', { sum: formatMoney(BigInt(discount), currency) })
              : t('till.cart.discount_named', { name: less, sum: off })}
          </span>
        )}
      </span>
      <Money units={lineTotal(line)} currency={currency} />
      <span className="cart-buttons">
        <button
          type="button"
          className="cart-button"
          aria-label={t('till.cart.less', { name })}
          onClick={onLess}
        >
          <Drawing path={PATHS.less} />
        </button>
        <button
          type="button"
          className="cart-button"
          aria-label={t('till.cart.more', { name })}
          onClick={onMore}
        >
          <Drawing path={PATHS.more} />
        </button>
      </span>
    </li>
  );
}

interface SumsProps {
  readonly cart: Cart;
}

/** Lists the sums from the lines to the amount due; shows only the total if it is the only sum. */
function Sums({ cart }: SumsProps): ReactNode {
  const { currency, discount, discountRate: rate, discountName: name } = cart;
  const [lines, total] = [linesTotal(cart), cartTotal(cart)];
  const tax = total - (lines - BigInt(discount));
  return (
    <dl className="cart-sums">
      {discount === 0 ? null : (
        <div>
          <dt>{discountWords({ name, rate }) ?? t('till.cart.discount')}</dt>
          <dd>
            <Money units={-BigInt(discount)} currency={currency} />
          </dd>
        </div>
      )}
      {tax === 0n ? null : (
        <div>
          <dt>{t('till.cart.tax')}</dt>
          <dd>
            <Money units={tax} currency={currency} />
          </dd>
        </div>
      )}
      <div className="cart-total">
        <dt>{t('till.cart.total')}</dt>
        <dd>
          <Money units={total} currency={currency} />
        </dd>
      </div>
    </dl>
  );
}

interface CartProps {
  readonly cart: Cart;
  readonly presets: Device['discounts'];
  readonly onCart: (next: Cart | null) => void;
}

function CartLines({ cart, presets, onCart }: CartProps): ReactNode {
  const [changing, setChanging] = useState<string | null>(null);
  const line = cart.lines.find((one) => lineKey(one) === changing);
  const more = (one: CartLine) =>
    onCart(changeLine(cart, one, { quantity: plusOne(one.quantity) }));
  const less = (one: CartLine) => {
    const quantity = lessOne(one.quantity);
    onCart(changeLine(cart, one, quantity === null ? null : { quantity }));
  };
  return (
    <>
      <ul className="cart-lines">
        {cart.lines.map((one) => (
          <Line
            key={lineKey(one)}
            line={one}
            currency={cart.currency}
            onLess={() => less(one)}
            onMore={() => more(one)}
            onChange={() => setChanging(lineKey(one))}
          />
        ))}
      </ul>
      {line === undefined ? null : (
        <LineDialog
          line={line}
          currency={cart.currency}
          presets={presets}
          onClose={() => setChanging(null)}
          onChange={(change) => {
            setChanging(null);
            onCart(changeLine(cart, line, change));
          }}
        />
      )}
    </>
  );
}

interface HeldProps extends TillContext {
  readonly cart: Cart | null;
  readonly held: readonly HeldCart[];
}

function HeldButton(props: HeldProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const currency = tillCurrency(props) ?? null;
  const count = props.held.length;
  return (
    <>
      {count === 0 ? null : (
        <Button data-name="Held carts" kind="quiet" onClick={() => setIsOpen(true)}>
          {t('till.held.button', { count })}
        </Button>
      )}
      {isOpen ? (
        <HeldDialog {...props} currency={currency} onClose={() => setIsOpen(false)} />
      ) : null}
    </>
  );
}

interface AsideProps extends HeldProps {
  readonly cart: Cart;
}

/** Puts the cart, or a part of it, aside. */
function AsideWays(props: AsideProps): ReactNode {
  const { cart, runner } = props;
  const [open, setOpen] = useState<'hold' | 'split' | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Button data-name="Hold" kind="quiet" onClick={() => setOpen('hold')}>
        {t('till.hold.button')}
      </Button>
      <Button data-name="Split" kind="quiet" onClick={() => setOpen('split')}>
        {t('till.split.button')}
      </Button>
      <HeldButton {...props} />
      {open === 'hold' ? <HoldDialog {...props} onClose={close} /> : null}
      {open === 'split' ? (
        <SplitCartDialog
          cart={cart}
          onClose={close}
          onSplit={({ part, rest }) => {
            close();
            runner.dispatch({ type: 'cart', cart: part, aside: { rest } });
          }}
        />
      ) : null}
    </>
  );
}

interface WaysProps extends CartProps {
  readonly cart: Cart;
  /** `null` while the rest of the cart waits. */
  readonly onClear: (() => void) | null;
  /** The ways to put it aside. */
  readonly children: ReactNode;
}

function CartWays({ cart, presets, onCart, onClear, children }: WaysProps): ReactNode {
  const [discounting, setDiscounting] = useState(false);
  return (
    <div className="row cart-ways">
      <Button data-name="Discount" kind="quiet" onClick={() => setDiscounting(true)}>
        {t('till.cart.discount')}
      </Button>
      {children}
      {onClear === null ? null : (
        <Button data-name="Clear cart" kind="quiet" onClick={onClear}>
          {t('till.cart.clear_button')}
        </Button>
      )}
      {discounting ? (
        <DiscountDialog
          cart={cart}
          presets={presets}
          onClose={() => setDiscounting(false)}
          onCart={(next) => {
            setDiscounting(false);
            onCart(next);
          }}
        />
      ) : null}
    </div>
  );
}

/** For this long, a cleared cart can be taken back. */
const UNDO_MS = 10_000;

/** Holds the cart that was cleared last, until it is too late to take it back. */
function useCleared() {
  const [cleared, setCleared] = useState<Cart | null>(null);
  useEffect(() => {
    if (cleared === null) return;
    const timer = setTimeout(() => setCleared(null), UNDO_MS);
    return () => clearTimeout(timer);
  }, [cleared]);
  return [cleared, setCleared] as const;
}

/** What stands in place of the lines of an empty cart. */
function EmptyCart({
  onUndo,
  children,
}: {
  readonly onUndo: (() => void) | null;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="cart-note">
      <p className="soft">{t('till.cart.empty')}</p>
      {onUndo === null ? null : (
        <Button data-name="Undo" onClick={onUndo}>
          {t('till.cart.undo')}
        </Button>
      )}
      {children}
    </div>
  );
}

/** True if the service asked for a manager for the discount of the cart. */
function asksForManager(phase: Phase): boolean {
  const kind = phase.at === 'keypad' ? phase.remark?.kind : undefined;
  return kind === 'needs_manager' || kind === 'code_invalid';
}

export interface CartPartProps extends TillContext {
  readonly cart: Cart | null;
  /** True once the service has sent the currency for typed amounts. */
  readonly isKnown: boolean;
}

/** The lines, their sums, and what can be done with them. */
function CartContent(props: CartPartProps): ReactNode {
  const { cart, view, runner, device } = props;
  const presets = device?.discounts ?? [];
  const { rest = null } = view.till;
  const aside = { ...props, held: useHeldCarts(props) };
  const [cleared, setCleared] = useCleared();
  const join = (whole: Cart | null) =>
    runner.dispatch({ type: 'cart', cart: whole, aside: { rest: null } });
  // Without its last line, a part of a cart gives way to the rest.
  const put = (next: Cart | null) =>
    next === null ? join(rest) : runner.dispatch({ type: 'cart', cart: next });
  const clear = () => {
    setCleared(cart);
    put(null);
  };
  if (cart === null) {
    return (
      <div className="cart-scroll">
        <EmptyCart onUndo={cleared === null ? null : () => put(cleared)}>
          <HeldButton {...aside} />
        </EmptyCart>
      </div>
    );
  }
  const own = { cart, presets, onCart: put };
  return (
    <>
      <div className="cart-scroll">
        <CartLines {...own} />
      </div>
      <Sums cart={cart} />
      <CartWays {...own} onClear={rest === null ? clear : null}>
        {rest === null ? <AsideWays {...aside} cart={cart} /> : null}
      </CartWays>
      {rest === null ? null : <RestOfCart parts={{ part: cart, rest }} onJoin={join} />}
    </>
  );
}

/** The total and `Charge` are at the bottom, in reach of a thumb. */
export function CartPart(props: CartPartProps): ReactNode {
  const { cart, isKnown, view } = props;
  const total = cart === null ? null : cartTotal(cart);
  const [code, setCode] = useState('');
  const { phase } = view.till;
  const needsManager = cart !== null && asksForManager(phase) && isDiscounted(cart);
  const [usesCode, setUsesCode] = useState(props.settings.hasPeople !== true);
  const [closedAt, setClosedAt] = useState<number | null>(null);
  const needsCode = needsManager && usesCode;
  const managerCode = needsCode ? code.trim() : null;
  const hasCode = managerCode === null || managerCode.length >= MANAGER_CODE_LENGTH;
  const isReady = isKnown && total !== null && total > 0n && hasCode;
  const click = () => {
    if (cart === null || !isReady) return;
    void charge(props, createOfCart(cart, { ...props, managerCode }));
  };
  return (
    <section className="cart card" data-name="Cart" aria-label={t('till.cart.heading')}>
      <CartContent {...props} />
      {needsCode ? <ManagerCodeField code={code} onCode={setCode} /> : null}
      {needsManager && !usesCode && closedAt !== phase.since ? (
        <ManagerDialog
          change={props.change}
          wasRefused={phase.at === 'keypad' && phase.remark?.kind === 'code_invalid'}
          onManager={(manager) => {
            const create = createOfCart(cart, { ...props, managerCode: null });
            allowBy(manager, create.key);
            void charge(props, { ...create, byManager: true });
          }}
          onCode={() => setUsesCode(true)}
          onClose={() => setClosedAt(phase.since)}
        />
      ) : null}
      <Button data-name="Charge" kind="primary" large wide disabled={!isReady} onClick={click}>
        {chargeWords(isReady ? total : null, cart?.currency ?? null)}
      </Button>
    </section>
  );
}
