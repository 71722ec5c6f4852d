import { addressMessage, textMessage } from '../../data/ndef.ts';
import type { Thing } from './field.ts';

export const NAMES = ['phone', 'card', 'tag', 'bank'] as const;
export type Name = (typeof NAMES)[number];

/** What the counter has lying about. */
export interface Counter {
  /** The pass in the phone: the content of its static chip. */
  readonly pass: string;
  /** The address on this till's own tag; null until the service has said it. */
  readonly tag: string | null;
}

let card: Promise<Thing> | null = null;

/** One card for as long as the page lives; what failed is tried again. */
function cardOnce(): Promise<Thing> {
  card ??= import('./funded-chip.ts').then(({ fundedChip }) => fundedChip());
  card.catch(() => {
    card = null;
  });
  return card;
}

/** @throws ApiFailure where there is no test money for the card. */
export async function thingOf(name: Name, { pass, tag }: Counter): Promise<Thing> {
  switch (name) {
    case 'phone':
      return { message: () => textMessage(pass) };
    case 'card':
      return cardOnce();
    case 'tag':
      return { message: () => addressMessage(tag ?? '') };
    case 'bank':
      return { message: () => null };
  }
}
