import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import {
  CARD_EXAMPLE,
  CardChangeBody,
  CardSchema,
  NewCardBody,
  NewCardSchema,
} from '#apis/payer/card-schema.ts';
import { ownListRoute } from '#apis/payer/page-of-own-objects.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { consentRefusal } from '#apis/payer/require-fresh-signature.ts';
import { answerWith, isRefusal, refuse, resourceMissing } from '#core/answer.ts';
import { checkDirections } from '#core/name-rules.ts';
import { listOf } from '#http/schema.ts';
import { createCard, DEFAULT_CARD_LIMIT, renderCard } from '#payers/card.ts';
import {
  countActiveCards,
  lockCards,
  revokeCardRow,
  selectCards,
  updateCard,
} from '#payers/card-queries.ts';
import { cardUrlTemplate } from '#payers/card-url.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** Maximum number of active cards: the same as for passes. */
const MAX_ACTIVE_CARDS = 16;

function listRoute(ctx: ApiContext) {
  return ownListRoute(ctx, {
    of: 'cards',
    path: '/cards',
    operationId: 'listCards',
    response: { schema: listOf(CardSchema), description: 'One page, without keys.' },
    select: selectCards,
    render: (rows, { livemode }) => rows.map((row) => renderCard(row, livemode)),
  });
}

function createRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof NewCardBody>({
    method: 'POST',
    path: '/cards',
    operationId: 'createCard',
    moves: 'money',
    summary: 'Create a card (NTAG 424 DNA); its keys are shown only once',
    description:
      'Write `url_template` and both keys to the chip. The first accepted tap binds ' +
      'the card to that chip.',
    body: NewCardBody,
    bodyExample: { label: 'Ring', per_payment_limit: 20000000 },
    responses: { 201: { schema: NewCardSchema, description: 'The card and its keys.' } },
    errors: ['unexpected_state'],
    handle: async ({ caller, body, now }) => {
      const label = body.label ?? '';
      const turned = checkDirections(label, 'label');
      if (turned !== null) return turned;
      const { id: payerId, livemode } = payerOfCaller(caller);
      const perPaymentLimit = BigInt(body.per_payment_limit ?? DEFAULT_CARD_LIMIT);
      const cardKey = ctx.keys.card;
      const created = await ctx.db.transaction(async (tx) => {
        await lockPayer(tx, payerId);
        if ((await countActiveCards(tx, payerId)) >= MAX_ACTIVE_CARDS) {
          return refuse(
            'unexpected_state',
            `A wallet can have at most ${MAX_ACTIVE_CARDS} active cards. Delete one first.`,
          );
        }
        return createCard(tx, { payerId, label, perPaymentLimit, cardKey, now });
      });
      if (isRefusal(created)) return created;
      const { row, keys } = created;
      return answerWith(201, {
        ...renderCard(row, livemode),
        meta_read_key: keys.metaRead.toString('hex'),
        file_read_key: keys.fileRead.toString('hex'),
        url_template: cardUrlTemplate(ctx.pages.webUrl(), row.id),
      });
    },
  });
}

function changeRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof CardChangeBody>({
    method: 'PATCH',
    path: '/cards/{id}',
    operationId: 'updateCard',
    moves: 'money',
    asks: 'own',
    summary: "Change a card's label or limit",
    description: 'A higher limit needs a signature of the wallet, at most five minutes old.',
    params: { id: 'card' },
    body: CardChangeBody,
    bodyExample: { per_payment_limit: 10000000 },
    responses: {
      200: { schema: CardSchema, description: 'The changed card.', example: CARD_EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params, body, now }) => {
      const turned = checkDirections(body.label ?? '', 'label');
      if (turned !== null) return turned;
      const { id: payerId, livemode } = payerOfCaller(caller);
      const limit = body.per_payment_limit;
      // Locks the card, and so waits for a concurrent tap of it.
      const row = await ctx.db.transaction(async (tx) => {
        const id = params.id ?? '';
        const perPaymentLimit = limit === undefined ? null : BigInt(limit);
        const [card] = await lockCards(tx, [id]);
        const isOwn = card?.payer_id === payerId;
        const isHigher =
          isOwn && perPaymentLimit !== null && perPaymentLimit > card.per_payment_limit;
        const refused = isHigher ? consentRefusal(caller, now) : null;
        if (refused !== null) return refused;
        return updateCard(tx, { id, payerId, label: body.label ?? null, perPaymentLimit });
      });
      if (isRefusal(row)) return row;
      return row === undefined
        ? resourceMissing('card')
        : answerWith(200, renderCard(row, livemode));
    },
  });
}

function deleteRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'DELETE',
    path: '/cards/{id}',
    operationId: 'deleteCard',
    moves: 'access',
    asks: 'never',
    summary: 'Delete a card, such as a lost one: no further tap with it is accepted',
    params: { id: 'card' },
    responses: {
      200: { schema: CardSchema, description: 'The card as it is now.', example: CARD_EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const { id: payerId, livemode } = payerOfCaller(caller);
      // The update locks the row, and so waits for a concurrent tap of this card.
      const row = await ctx.db.transaction((tx) =>
        revokeCardRow(tx, { id: params.id ?? '', payerId, now }),
      );
      return row === undefined
        ? resourceMissing('card')
        : answerWith(200, renderCard(row, livemode));
    },
  });
}

/**
 * Declares the routes that create, list, change and delete cards whose chip produces a new message
 * at each tap (behavior.md 12.6 to 12.10).
 */
export function cardRoutes(ctx: ApiContext): PayerRoute[] {
  return [listRoute(ctx), createRoute(ctx), changeRoute(ctx), deleteRoute(ctx)];
}
