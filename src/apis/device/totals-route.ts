import { deviceRoute } from '#apis/device/device-route.ts';
import { answerTotals } from '#apis/merchant/shift-totals.ts';
import { TotalsQuery, TotalsSchema } from '#apis/merchant/totals-schema.ts';
import type { Database } from '#db/database.ts';

export function totalsRoute({ db }: { readonly db: Database }) {
  return deviceRoute<typeof TotalsQuery>({
    method: 'GET',
    path: '/totals',
    operationId: 'retrieveDeviceTotals',
    moves: 'nothing',
    summary: "Retrieve this terminal's totals by cashier: sales, tips, refunds, declines",
    description:
      "For days in the time zone of the terminal's location, or else of the account; or for a " +
      'shift. With `format=csv` the response is a CSV file.',
    query: TotalsQuery,
    responses: { 200: { schema: TotalsSchema, description: 'The totals.' } },
    handle: async ({ caller: { tenant, terminalId }, query, now }) =>
      answerTotals(db, { tenant, terminalId, query, now }),
  });
}
