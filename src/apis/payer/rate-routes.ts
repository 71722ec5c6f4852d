import Type from 'typebox';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { shortListOf } from '#apis/payer/payer-schema.ts';
import { answerWith } from '#core/answer.ts';
import { objectType } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectUsableRates } from '#prices/rate-queries.ts';

const ExchangeRateSchema = Type.Object(
  {
    object: objectType('exchange_rate'),
    currency: Type.String({ description: 'ISO 4217, in lower case.' }),
    rate: Type.String({ description: 'USDC for one unit of the currency, as a decimal.' }),
  },
  { title: 'ExchangeRate', description: 'The current rate of a currency.' },
);

/** Declares the rates with which the wallet shows what its USDC is worth (behavior.md 14.10). */
export function rateRoutes(ctx: ApiContext): PayerRoute[] {
  return [
    payerRoute({
      method: 'GET',
      path: '/rates',
      operationId: 'listExchangeRates',
      moves: 'nothing',
      summary: 'List the currencies that have a rate now',
      responses: {
        200: { schema: shortListOf(ExchangeRateSchema), description: 'Empty without feeds.' },
      },
      handle: async ({ now }) => {
        const rows = await selectUsableRates(ctx.db, now);
        const data = rows.map(({ currency, rate }) => ({
          object: 'exchange_rate',
          currency,
          rate,
        }));
        return answerWith(200, { object: 'list', data, has_more: false, next_cursor: null });
      },
    }),
  ];
}
