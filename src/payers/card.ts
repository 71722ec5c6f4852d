import { createHash, randomBytes } from 'node:crypto';
import { decrypt, encrypt, type RotatingKey } from '#core/bearer-secrets.ts';
import { newId } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { type CardKeys, writeSunMessage } from '#core/sun-message.ts';
import type { Tx } from '#db/database.ts';
import { type CardRow, cards } from '#payers/card-queries.ts';
import { cardUrl } from '#payers/card-url.ts';

/**
 * Default limit per payment by card in atoms (50 USDC): the most that a thief can take who has
 * secretly read a card's URL.
 */
export const DEFAULT_CARD_LIMIT = 50_000_000;
const KEY_BYTES = 16;
/** The length of a key in hex digits. */
const KEY_DIGITS = 2 * KEY_BYTES;

function sealKeys(cardKey: RotatingKey, keys: CardKeys, id: string): Buffer {
  return encrypt(cardKey, Buffer.concat([keys.metaRead, keys.fileRead]).toString('hex'), id);
}

export function openCardKeys(cardKey: RotatingKey, card: CardRow): CardKeys {
  const plain = decrypt(cardKey, card.keys, card.id);
  return {
    metaRead: Buffer.from(plain.slice(0, KEY_DIGITS), 'hex'),
    fileRead: Buffer.from(plain.slice(KEY_DIGITS), 'hex'),
  };
}

/** Creates a card. Its keys, which are written to the chip, are returned only once. */
export async function createCard(
  tx: Tx,
  input: {
    readonly payerId: string;
    readonly label: string;
    readonly perPaymentLimit: bigint;
    readonly cardKey: RotatingKey;
    readonly now: Date;
  },
): Promise<{ readonly row: CardRow; readonly keys: CardKeys }> {
  const id = newId('card', input.now, tx.cell);
  const keys = { metaRead: randomBytes(KEY_BYTES), fileRead: randomBytes(KEY_BYTES) };
  const row = await cards.insert(tx, {
    ...{ id, payer_id: input.payerId, label: input.label, created: input.now },
    ...{ keys: sealKeys(input.cardKey, keys, id), per_payment_limit: input.perPaymentLimit },
  });
  return { row, keys };
}

/**
 * Returns the UID of a simulated chip in test mode: the stored one, or one derived from the card's
 * ID.
 */
function emulatedUid(card: CardRow): string {
  if (card.uid !== null) return card.uid;
  const digest = createHash('sha256').update(card.id).digest('hex').toUpperCase();
  // UIDs of NXP chips begin with this manufacturer code.
  return `04${digest.slice(0, 12)}`;
}

/** Returns the URL that the card's chip produces at its tap number `counter`. */
export function tapUrl(
  web: string,
  card: CardRow,
  presented: { readonly keys: CardKeys; readonly counter: number },
): string {
  const tap = { uid: emulatedUid(card), counter: presented.counter };
  return cardUrl(web, card.id, writeSunMessage(tap, presented.keys, randomBytes(5)));
}

/** Renders the card without its keys. */
export function renderCard(card: CardRow, livemode: boolean) {
  return {
    id: card.id,
    object: 'card',
    livemode,
    network: networkOf(livemode),
    label: card.label,
    status: card.revoked_at === null ? 'active' : 'revoked',
    per_payment_limit: toJsonAtoms(card.per_payment_limit),
    last_used_at: card.last_used_at?.toISOString() ?? null,
    revoked_at: card.revoked_at?.toISOString() ?? null,
    created: card.created.toISOString(),
  };
}
