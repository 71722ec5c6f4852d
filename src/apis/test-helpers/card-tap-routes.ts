import Type from 'typebox';
import { testHelperRoute } from '#apis/test-helpers/test-helper-route.ts';
import { answerWith, refuse, resourceMissing } from '#core/answer.ts';
import { openCardKeys, tapUrl } from '#payers/card.ts';
import { countEmulatedTap, isTestCard } from '#payers/card-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';

const CardTapSchema = Type.Object(
  { url: Type.String({ description: 'The URL that the card produces; valid for one attempt.' }) },
  { title: 'CardTap' },
);

/** Returns the route that simulates card taps, for developers without a card. */
export function cardTapRoute(ctx: ApiContext) {
  return testHelperRoute({
    method: 'POST',
    path: '/test_helpers/cards/{id}/taps',
    operationId: 'testTapCard',
    moves: 'data',
    summary: 'Produce the next tap of a SUN card',
    description:
      'Simulates the chip of a card of the test network, and counts its taps. Send the URL as a ' +
      'credential of type `nfc_sun`.',
    params: { id: 'card' },
    responses: {
      201: {
        schema: CardTapSchema,
        description: 'The URL.',
        example: {
          url:
            'https://pay.example.com/card/card_01QzXo0KcV5sVQ2pWm8Tn3' +
            '?p=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086',
        },
      },
    },
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ params }) => {
      const id = params.id ?? '';
      const card = await ctx.db.transaction((tx) => countEmulatedTap(tx, id));
      if (card !== undefined) {
        const keys = openCardKeys(ctx.keys.card, card);
        return answerWith(201, {
          url: tapUrl(ctx.pages.webUrl(), card, { keys, counter: card.emulated }),
        });
      }
      if (!(await isTestCard(ctx.db, id))) return resourceMissing('card of the test network');
      return refuse(
        'unexpected_state',
        'The tap counter of this card is exhausted. Create another card.',
      );
    },
  });
}
