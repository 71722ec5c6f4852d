import { answerTotals } from '#apis/merchant/shift-totals.ts';
import { TotalsQuery, TotalsSchema } from '#apis/merchant/totals-schema.ts';
import type { Database } from '#db/database.ts';
import { defineRoute } from '#http/route.ts';
import type { DeviceCaller } from '#terminals/authenticate-terminal.ts';

export function totalsRoute({ db }: { readonly db: Database }) {
  return defineRoute<DeviceCaller, typeof TotalsQuery>({
    method: 'GET',
    path: '/totals',
    operationId: 'retrieveDeviceTotals',
    moves: 'nothing',
    tag: 'Terminal protocol',
    summary: "Retrieve this terminal's totals by cashier: sales, tips, refunds, declines",
    description:
      "For days in the time zone of the terminal's location, or else of the account; or for a " +
      'shift. With `format=csv` the response is a CSV file.',
    scope: null,
    idempotency: 'ignored',
    query: TotalsQuery,
    responses: { 200: { schema: TotalsSchema, description: 'The totals.' } },
    errors: [],
    handle: async ({ caller: { tenant, terminalId }, query, now }) =>
      answerTotals(db, { tenant, terminalId, query, now }),
  });
}
