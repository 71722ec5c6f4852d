import { addressMessage, textMessage } from '../../data/ndef.ts';
import type { Thing } from './field.ts';

export const NAMES = ['phone', 'card', 'pin', 'tag', 'bank'] as const;
export type Name = (typeof NAMES)[number];

/** What the counter has lying about. */
export interface Counter {
  /** The pass in the phone: the content of its static chip. */
  readonly pass: string;
  /** The address on this till's own tag; null until the service has said it. */
  readonly tag: string | null;
}

/** What the counter says about it, so that anybody can type it. */
export const PIN = '1234';

const cards = new Map<string | null, Promise<Thing>>();

/** One card of each kind for as long as the page lives; what failed is tried again. */
function cardOnce(pin: string | null): Promise<Thing> {
  const kept = cards.get(pin);
  if (kept !== undefined) return kept;
  const made = import('./funded-chip.ts').then(({ fundedChip }) => fundedChip(pin));
  cards.set(pin, made);
  made.catch(() => cards.delete(pin));
  return made;
}

/** @throws ApiFailure where there is no test money for the card. */
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
