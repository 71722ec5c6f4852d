import type { SunMessage } from '#core/sun-message.ts';

/** The path of a card's page, relative to the web origin. */
export const CARD_PATH = '/card';

/** The placeholder in a chip's URL. The chip replaces the zeros with its message. */
const EMPTY: SunMessage = { piccData: Buffer.alloc(16), mac: Buffer.alloc(8) };
/**
 * Matches only the end of the URL, so that cards keep working after the service's domain changes.
 */
const PATH = /\/card\/(card_[0-9A-Za-z]{1,59})$/;
const PICC_DATA = /^[0-9A-Fa-f]{32}$/;
const MAC = /^[0-9A-Fa-f]{16}$/;

export function cardUrl(web: string, cardId: string, { piccData, mac }: SunMessage): string {
  const hex = (bytes: Buffer) => bytes.toString('hex').toUpperCase();
  return `${web}${CARD_PATH}/${cardId}?p=${hex(piccData)}&c=${hex(mac)}`;
}

export function cardUrlTemplate(web: string, cardId: string): string {
  return cardUrl(web, cardId, EMPTY);
}

/** Returns the card ID and the message in the URL; `null` if it is not a card's URL. */
export function parseCardUrl(
  text: string,
): { readonly cardId: string; readonly message: SunMessage } | null {
  const url = URL.parse(text, 'https://any.invalid');
  const cardId = PATH.exec(url?.pathname ?? '')?.[1];
  if (url === null || cardId === undefined) return null;
  const [piccData, ...morePiccData] = url.searchParams.getAll('p');
  const [mac, ...moreMacs] = url.searchParams.getAll('c');
  if (morePiccData.length + moreMacs.length > 0) return null;
  if (!PICC_DATA.test(piccData ?? '') || !MAC.test(mac ?? '')) return null;
  return {
    cardId,
    message: { piccData: Buffer.from(piccData ?? '', 'hex'), mac: Buffer.from(mac ?? '', 'hex') },
  };
}
