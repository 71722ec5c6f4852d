import type { Cart } from './cart.ts';
import { canSeal, sealText, unsealText } from './sealed-storage.ts';
import type { Held, HeldCart, Till } from './till-phases.ts';
import type { TillRunner } from './till-runner.ts';

/** The most carts that a till holds. */
export const MOST_HELD = 50;

/** @throws StorageUnavailable if the browser's key cannot be read now */
export async function readHeld(held: Held | null): Promise<readonly HeldCart[]> {
  if (held === null) return [];
  return 'carts' in held ? held.carts : JSON.parse(await unsealText(held));
}

async function sealHeld(carts: readonly HeldCart[], shop: string): Promise<Held | null> {
  if (carts.length === 0) return null;
  if (!canSeal()) return { shop, carts };
  return { shop, ...(await sealText(JSON.stringify(carts))) };
}

/** Returns the number behind the greatest one that is held. */
export function nextNumber(carts: readonly HeldCart[]): string {
  const numbers = carts.map(({ name }) => (/^\d{1,6}$/.test(name) ? Number(name) : 0));
  return String(Math.max(0, ...numbers) + 1);
}

/** What a change makes of the held carts and the cart. */
interface Changed {
  readonly carts: readonly HeldCart[];
  readonly cart: Cart | null;
}

/**
 * Changes the cart and the held carts in one write, so that a cart is never lost or in both places.
 * @returns false if the cart has changed meanwhile, or cannot be encrypted now; nothing is changed
 */
async function change(
  runner: TillRunner,
  shop: string | undefined,
  decide: (carts: readonly HeldCart[], till: Till) => Changed | null,
): Promise<boolean> {
  const { till } = runner.view();
  try {
    const changed = decide(await readHeld(till.held ?? null), till);
    if (changed === null) return false;
    const held = await sealHeld(changed.carts, shop ?? till.held?.shop ?? '');
    const now = runner.view().till;
    if (now.cart !== till.cart || now.held !== till.held) return false;
    runner.dispatch({ type: 'cart', cart: changed.cart, aside: { held } });
    return runner.view().till !== now;
  } catch {
    return false;
  }
}

/** Puts the cart aside. `shop` is `undefined` while the till does not know it. */
export function holdCart(runner: TillRunner, name: string, shop: string | undefined) {
  return change(runner, shop, (carts, { cart }) => {
    if (cart === null || carts.length >= MOST_HELD) return null;
    return { carts: [...carts, { name, cart }], cart: null };
  });
}

/** Takes a held cart back. A cart in progress is held in exchange. */
export function takeCart(runner: TillRunner, name: string, shop: string | undefined) {
  return change(runner, shop, (carts, { cart }) => {
    const taken = carts.find((one) => one.name === name);
    if (taken === undefined) return null;
    const others = carts.filter((one) => one !== taken);
    const isFree = cart?.heldAs !== undefined && others.every((one) => one.name !== cart.heldAs);
    const own = isFree ? cart.heldAs : nextNumber(others);
    const exchanged = cart === null ? [] : [{ name: own, cart }];
    return { carts: [...others, ...exchanged], cart: { ...taken.cart, heldAs: name } };
  });
}
