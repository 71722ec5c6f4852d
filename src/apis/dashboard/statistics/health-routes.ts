import Type from 'typebox';
import { MODE, personRoute } from '#apis/dashboard/person-route.ts';
import { count, listed } from '#apis/dashboard/person-schema.ts';
import { openCharts } from '#apis/dashboard/statistics/share-chart-reads.ts';
import { answerWith, refuse } from '#core/answer.ts';
import { checkDays, daysBetween } from '#core/check-day-range.ts';
import { Day } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

/**
 * Maximum number of days, because requests, events and deliveries are stored for only this long.
 */
const MAX_DAYS = 31;

const HealthSchema = Type.Object({
  day: Day,
  requests: count('Calls of the merchant API.'),
  refused: count('Calls that were answered with a 4xx status.'),
  failed: count('Calls that were answered with a 5xx status.'),
  delivered: count('Events of the day that receivers accepted.'),
  undelivered: count('Deliveries that failed, or had no success so far.'),
});

const HealthQuery = Type.Object({ from: Day, to: Day });

export function healthRoute({ db }: ApiContext) {
  const charts = openCharts(db);
  return personRoute<typeof HealthQuery>({
    method: 'GET',
    path: `${MODE}/health`,
    operationId: 'readHealth',
    moves: 'nothing',
    tag: 'Statistics',
    summary: 'Retrieve failure rates of the API and of webhooks, by day',
    description: `Days without activity are omitted. At most ${MAX_DAYS} days.`,
    access: 'viewer',
    query: HealthQuery,
    response: listed(HealthSchema, 'One row per day.'),
    handle: async ({ caller: { tenant }, query, now }) => {
      const { from, to } = query;
      const wrong = checkDays(from, to);
      if (wrong !== null) return wrong;
      if (daysBetween(from, to).length > MAX_DAYS) {
        return refuse('parameter_invalid', `Request at most ${MAX_DAYS} days at a time.`, 'from');
      }
      const data = await charts.health({ tenant, from, to }, now);
      return answerWith(200, { object: 'list', data });
    },
  });
}
