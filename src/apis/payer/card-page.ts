import type { FastifyInstance } from 'fastify';
import { isId } from '#core/ids.ts';
import type { Database } from '#db/database.ts';
import { limitByAddress, PAGES } from '#http/address-rate-limit.ts';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { type CardRow, selectCard } from '#payers/card-queries.ts';
import { CARD_PATH } from '#payers/card-url.ts';

const TITLE = 'A Tapline payment card';

/**
 * Describes a card without any data about its owner, because anyone who finds a card can open its
 * URL.
 */
function describe(card: CardRow): string {
  if (card.revoked_at !== null) {
    return '<p>This card has been revoked. It can no longer pay.</p>';
  }
  return (
    '<p>Hold it to the terminal of a shop to pay. Opening this page did not pay anything.</p>\n' +
    '<p>Is it your lost card? Switch it off in your wallet app; it stops working immediately.</p>'
  );
}

const UNKNOWN = plainPage('No such card', '<p>This network has no card with this address.</p>');

/**
 * Adds the page that opens when a phone is held to a card. The page changes nothing, even if the
 * URL contains a tap.
 */
export function addCardPage(app: FastifyInstance, { db }: { readonly db: Database }): void {
  const onRequest = limitByAddress(PAGES);
  app.get<{ Params: { id: string } }>(`${CARD_PATH}/:id`, { onRequest }, async (request, reply) => {
    const { id } = request.params;
    const card = isId('card', id) ? await selectCard(db, id) : undefined;
    if (card === undefined) return sendPage(reply, 404, UNKNOWN);
    return sendPage(reply, 200, plainPage(TITLE, describe(card)));
  });
}
