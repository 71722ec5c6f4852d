import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { answerWith, refuse, resourceMissing } from '#core/answer.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { Database } from '#db/database.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { openCardKeys, tapUrl } from '#payers/card.ts';
import { countEmulatedTap, isTestCard } from '#payers/card-queries.ts';

export interface CardTapDeps {
  readonly db: Database;
  readonly cardKey: RotatingKey;
  readonly webUrl: () => string;
}

const CardTapSchema = Type.Object(
  { url: Type.String({ description: 'The URL that the card produces; valid for one attempt.' }) },
  { title: 'CardTap' },
);

function cardTapRoute(deps: CardTapDeps) {
  return defineRoute<MerchantCaller>({
    method: 'POST',
    path: '/test_helpers/cards/{id}/taps',
    operationId: 'testTapCard',
    moves: 'data',
    tag: 'Test helpers',
    summary: 'Produce the next tap of a SUN card',
    description:
      'Simulates the chip of a card of the test network, and counts its taps. Send the URL as a ' +
      'credential of type `nfc_sun`.',
    scope: 'payments:write',
    idempotency: 'ignored',
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
    errors: ['route_missing', 'resource_missing', 'unexpected_state'],
    handle: async ({ params }) => {
      const id = params.id ?? '';
      const card = await deps.db.transaction((tx) => countEmulatedTap(tx, id));
      if (card !== undefined) {
        const keys = openCardKeys(deps.cardKey, card);
        return answerWith(201, {
          url: tapUrl(deps.webUrl(), card, { keys, counter: card.emulated }),
        });
      }
      if (!(await isTestCard(deps.db, id))) return resourceMissing('card of the test network');
      return refuse(
        'unexpected_state',
        'The tap counter of this card is exhausted. Create another card.',
      );
    },
  });
}

/** Simulates card taps for developers without a card. */
export function cardTapRoutes(deps: CardTapDeps): AnyRoute<MerchantCaller>[] {
  return [cardTapRoute(deps)];
}
