import { assert } from '#core/assert.ts';
import { cellOfId } from '#core/ids.ts';
import { readSunMessage, type SunMessage } from '#core/sun-message.ts';
import { openCardKeys } from '#payers/card.ts';
import {
  type CardRow,
  lockCards,
  selectCard,
  selectPayersOfCards,
  useUpTaps,
} from '#payers/card-queries.ts';
import { cardUrl, parseCardUrl } from '#payers/card-url.ts';
import {
  checkPass,
  foundBy,
  type Stored,
  type TappedKind,
} from '#payments/credentials/credential-kind.ts';

interface Presented {
  readonly type: 'nfc_sun';
  readonly cardId: string;
  readonly message: SunMessage;
}

interface CardState {
  readonly type: 'nfc_sun';
  readonly payerId: string;
  readonly card: CardRow;
}

function ofCard(card: CardRow): CardState {
  return { type: 'nfc_sun', payerId: card.payer_id, card };
}

/** A card whose chip signs a counter at each tap. Each message is valid for one attempt. */
export const nfcSun: TappedKind<Presented, CardState> = {
  unknown: 'pass_unknown',
  form: 'the URL that the card produced: …/card/card_…?p=32 hex digits&c=16 hex digits',
  read(value) {
    const parts = parseCardUrl(value);
    return parts === null ? null : { type: 'nfc_sun', ...parts };
  },
  value: ({ cardId, message }) => cardUrl('', cardId, message),
  cell: ({ cardId }) => cellOfId('card', cardId),
  ...foundBy(
    ({ cardId }) => cardId,
    selectPayersOfCards,
    async (tx, cardIds) => (await lockCards(tx, cardIds)).map((card) => [card.id, ofCard(card)]),
  ),
  async lockAgain(tx, { cardId }: Stored<'nfc_sun'>) {
    const card = await selectCard(tx, cardId);
    return card === undefined ? null : ofCard(card);
  },
  stored: ({ card }) => ({ type: 'nfc_sun', cardId: card.id }),
  check: ({ card }, paying) => checkPass(card, paying),
  verify(state, { message }, { cardKey }) {
    const { card } = state;
    const tap = readSunMessage(message, openCardKeys(cardKey, card));
    const isNew = tap !== null && tap.counter > card.counter && (card.uid ?? tap.uid) === tap.uid;
    if (!isNew) return { decline: 'pass_replayed', after: state };
    const { counter, uid } = tap;
    return { decline: null, after: { ...state, card: { ...card, counter, uid } } };
  },
  async consume(tx, used, now) {
    const taps = used.flatMap(({ card: { id, counter, uid } }) =>
      uid === null ? [] : [{ id, counter, uid }],
    );
    assert((await useUpTaps(tx, taps, now)) === taps.length, 'a tap of a card was used twice');
  },
  facts: ({ card }) => ({ card }),
};
