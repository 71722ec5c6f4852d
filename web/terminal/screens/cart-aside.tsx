import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { thousandths } from '#prices/sale-lines.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatMoney } from '../../ui/format-price.ts';
import { Notice } from '../../ui/notice.tsx';
import { RefundItems } from '../../ui/refund-items.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Money } from '../../ui/typed-money.tsx';
import { type Cart, cartTotal } from '../cart.ts';
import { holdCart, MOST_HELD, nextNumber, readHeld, takeCart } from '../held-carts.ts';
import { type CartParts, joinCarts, splitCart } from '../split-cart.ts';
import type { HeldCart } from '../till-phases.ts';
import type { TillContext } from './till-context.ts';

/** Pause before held carts are read again that the browser could not decrypt now. */
const AGAIN_MS = 2_000;
const LONGEST_NAME = 60;

/** Returns the held carts as they were last read. */
export function useHeldCarts({ view }: Pick<TillContext, 'view'>): readonly HeldCart[] {
  const { held = null } = view.till;
  const [carts, setCarts] = useState<readonly HeldCart[]>([]);
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () =>
      readHeld(held).then(
        (all) => {
          if (isCurrent) setCarts(all);
        },
        () => {
          if (isCurrent) timer = setTimeout(read, AGAIN_MS);
        },
      );
    void read();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [held]);
  return held === null ? [] : carts;
}

interface HoldProps extends Pick<TillContext, 'runner' | 'device'> {
  readonly cart: Cart;
  readonly held: readonly HeldCart[];
  readonly onClose: () => void;
}

export function HoldDialog({ cart, held, runner, device, onClose }: HoldProps): ReactNode {
  const [name, setName] = useState(cart.heldAs ?? '');
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const own = name.trim() || nextNumber(held);
  const isTaken = held.some((one) => one.name === own);
  const isFull = held.length >= MOST_HELD;
  const full = isFull ? t('till.hold.problem.full', { most: MOST_HELD }) : null;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isTaken || isFull) return;
    setBusy(true);
    const isHeld = await holdCart(runner, own, device?.merchant_name);
    setBusy(false);
    setFailed(!isHeld);
    if (isHeld) onClose();
  };
  return (
    <Dialog title={t('till.hold.heading')} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <TextField
          data-name="Name"
          label={t('till.hold.name')}
          autoComplete="off"
          maxLength={LONGEST_NAME}
          value={name}
          onChange={(event) => setName(event.target.value)}
          hint={t('till.hold.name_hint', { number: nextNumber(held) })}
          error={isTaken ? t('till.hold.problem.taken') : full}
        />
        {failed ? (
          <Notice tone="bad" role="alert">
            <p>{t('till.hold.problem.failed')}</p>
          </Notice>
        ) : null}
        <Button
          data-name="Hold"
          type="submit"
          kind="primary"
          large
          busy={busy}
          disabled={isTaken || isFull}
        >
          {t('till.hold.button')}
        </Button>
      </form>
    </Dialog>
  );
}

interface HeldProps extends Pick<TillContext, 'runner' | 'device'> {
  readonly held: readonly HeldCart[];
  readonly cart: Cart | null;
  readonly currency: string | null;
  readonly onClose: () => void;
}

/** The held carts, each a button that takes it back. */
export function HeldDialog(props: HeldProps): ReactNode {
  const { held, cart, currency, runner, device, onClose } = props;
  const [failed, setFailed] = useState(false);
  const take = async (name: string) => {
    const isTaken = await takeCart(runner, name, device?.merchant_name);
    setFailed(!isTaken);
    if (isTaken) onClose();
  };
  return (
    <Dialog title={t('till.held.heading')} onClose={onClose}>
      {cart === null ? null : <p className="soft">{t('till.held.exchange')}</p>}
      {failed ? (
        <Notice tone="bad" role="alert">
          <p>{t('till.held.problem')}</p>
        </Notice>
      ) : null}
      {held.map((one) => (
        <Button
          key={one.name}
          className="held-cart"
          wide
          // A sale cannot mix currencies.
          disabled={one.cart.currency !== currency}
          onClick={() => void take(one.name)}
        >
          <bdi>{one.name}</bdi> <Money units={cartTotal(one.cart)} currency={one.cart.currency} />
        </Button>
      ))}
    </Dialog>
  );
}

interface SplitProps {
  readonly cart: Cart;
  readonly onClose: () => void;
  readonly onSplit: (parts: CartParts) => void;
}

/** Chooses the items that are charged first. */
export function SplitCartDialog({ cart, onClose, onSplit }: SplitProps): ReactNode {
  const [chosen, setChosen] = useState<readonly bigint[]>([]);
  const whole = cart.lines.map(({ quantity }) => thousandths(quantity));
  const parts = splitCart(cart, chosen);
  const sums = parts === null ? null : [cartTotal(parts.part), cartTotal(parts.rest)];
  const isReady = parts !== null && sums?.every((sum) => sum > 0n) === true;
  const sum = sums === null ? null : formatMoney(sums[0] ?? 0n, cart.currency);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onSplit(parts);
  };
  return (
    <Dialog title={t('till.split.heading')} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <fieldset className="stack split-items">
          <legend>{t('till.split.by_items')}</legend>
          <RefundItems
            names={cart.lines.map(({ name }) => name)}
            left={whole}
            chosen={chosen}
            sum={sum}
            error={parts === null || isReady ? null : t('till.split.problem.nothing_left')}
            readOnly={false}
            onChosen={setChosen}
          />
        </fieldset>
        <Button data-name="Split" type="submit" kind="primary" large disabled={!isReady}>
          {isReady ? t('till.split.part_button', { sum: sum ?? '' }) : t('till.split.button')}
        </Button>
      </form>
    </Dialog>
  );
}

interface RestProps {
  readonly parts: CartParts;
  readonly onJoin: (cart: Cart) => void;
}

/** Says what waits while a part of a cart is charged. */
export function RestOfCart({ parts, onJoin }: RestProps): ReactNode {
  const { rest } = parts;
  return (
    <div className="cart-note">
      <p className="soft small">
        {rich('till.split.rest', {
          sum: () => <Money units={cartTotal(rest)} currency={rest.currency} />,
        })}
      </p>
      <Button data-name="Put back" onClick={() => onJoin(joinCarts(parts))}>
        {t('till.split.join_button')}
      </Button>
    </div>
  );
}
