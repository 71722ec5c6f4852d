import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { answerTotals } from '#apis/merchant/shift-totals.ts';
import { TotalsQuery, TotalsSchema } from '#apis/merchant/totals-schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

export function totalsRoutes({ db }: ApiContext): PersonRoute[] {
  return [
    personRoute<typeof TotalsQuery>({
      method: 'GET',
      path: `${MODE}/totals`,
      operationId: 'readTotals',
      moves: 'nothing',
      tag: 'Statistics',
      summary: 'Retrieve totals by terminal and cashier: sales, tips, refunds, declines',
      description:
        "For days in the account's time zone, or for a shift. With `format=csv` the response is " +
        'a CSV file.',
      access: 'viewer',
      query: TotalsQuery,
      response: TotalsSchema,
      handle: async ({ caller: { tenant }, query, now }) =>
        answerTotals(db.standby, { tenant, terminalId: null, query, now }),
    }),
  ];
}
