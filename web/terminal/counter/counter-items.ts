import { addressMessage, textMessage } from '../../data/ndef.ts';
import type { Thing } from './virtual-nfc-field.ts';

export const NAMES = ['phone', 'card', 'pin', 'tag', 'bank'] as const;
export type Name = (typeof NAMES)[number];

export interface Counter {
  /** The credential that the simulated phone presents. */
  readonly pass: string;
  /** URL of this till's own tag, or `null` until the service has sent it. */
  readonly tag: string | null;
}

/** PIN of the virtual card, shown on the counter so that any visitor can type it. */
export const PIN = '1234';

const cards = new Map<string | null, Promise<Thing>>();

/** Creates one card of each kind per page load. A failed attempt is retried. */
function cardOnce(pin: string | null): Promise<Thing> {
  const kept = cards.get(pin);
  if (kept !== undefined) return kept;
  const made = import('./funded-chip.ts').then(({ fundedChip }) => fundedChip(pin));
  cards.set(pin, made);
  made.catch(() => cards.delete(pin));
  return made;
}

/** Creates an item by its name. @throws ApiFailure if the card cannot get test money. */
export async function thingOf(name: Name, { pass, tag }: Counter): Promise<Thing> {
  switch (name) {
    case 'phone':
      return { message: () => textMessage(pass) };
    case 'card':
      return cardOnce(null);
    case 'pin':
      return cardOnce(PIN);
    case 'tag':
      return { message: () => addressMessage(tag ?? '') };
    case 'bank':
      return { message: () => null };
  }
}
