import Type from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { count } from '#apis/dashboard/person-schema.ts';
import {
  type ActivityFigures,
  type ActivityRow,
  type ActivitySpan,
  selectActivity,
} from '#apis/operator/activity-queries.ts';
import { livemodeOf } from '#apis/operator/offline-routes.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { DAY_MS, HOUR_MS } from '#core/durations.ts';
import { NETWORKS, networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { Database } from '#db/database.ts';
import { AtomsOut, nullable, objectType, oneOf, Timestamp } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** The spans on offer: enough bars to see a change, and few enough for a phone. */
const PERIODS = {
  day: { every: 'hour', stepMs: HOUR_MS, steps: 24 },
  week: { every: 'day', stepMs: DAY_MS, steps: 7 },
  month: { every: 'day', stepMs: DAY_MS, steps: 30 },
} as const;

type Period = keyof typeof PERIODS;
const PERIOD_NAMES = Object.keys(PERIODS) as Period[];

/**
 * A result is reused for so many times as long as reading it took: then all open consoles together
 * keep one connection busy for a twentieth of the time, and a small network is always shown as it
 * is now.
 */
const REUSED_TIMES = 20;

const figures = {
  payments: count('Sales that were paid.'),
  failed: count('Sales that ended unpaid after a decline.'),
  volume: { ...AtomsOut, description: 'The sum of the payments, tips included, in USDC atoms.' },
  paid_ms_p50: nullable(
    count('Half of the payments took at most so many milliseconds, from the tap.'),
  ),
  paid_ms_p99: nullable(count('99 % of the payments took at most so many milliseconds.')),
  gas_per_payment: nullable(
    count('Gas of the transactions that settled the payments, per payment; `null` if unknown.'),
  ),
};

const ActivitySchema = Type.Object(
  {
    object: objectType('network_activity'),
    network: oneOf(NETWORKS, 'The network.'),
    from: Timestamp,
    until: Timestamp,
    every: oneOf(['hour', 'day'] as const, 'The length of a step. Days are in UTC.'),
    total: Type.Object(figures, { description: 'The figures of the whole span.' }),
    data: Type.Array(
      Type.Object({ start: Timestamp, ...figures }, { description: 'One hour or day.' }),
      { description: 'Every step of the span, oldest first, also those without a sale.' },
    ),
  },
  { description: 'The sales of a network over time.' },
);

const NONE: ActivityFigures = {
  ...{ payments: 0, failed: 0, volume: 0n },
  ...{ paid_ms_p50: null, paid_ms_p99: null, gas_per_payment: null },
};

function figuresView({ volume, payments, failed, ...rest }: ActivityFigures) {
  const { paid_ms_p50, paid_ms_p99, gas_per_payment } = rest;
  return {
    ...{ payments, failed, volume: toJsonAtoms(volume) },
    ...{ paid_ms_p50, paid_ms_p99, gas_per_payment },
  };
}

function spanOf(period: Period, now: Date) {
  const { every, stepMs, steps } = PERIODS[period];
  const end = (Math.floor(now.getTime() / stepMs) + 1) * stepMs;
  const starts = Array.from({ length: steps }, (_, at) => new Date(end - (steps - at) * stepMs));
  return { every, starts, from: new Date(end - steps * stepMs), until: new Date(end) };
}

const ActivityQuery = Type.Object({
  period: Type.Optional(
    oneOf(PERIOD_NAMES, 'day (the default): 24 hours. week: 7 days. month: 30 days. Up to now.'),
  ),
});

interface Known {
  readonly until: Date;
  readonly rows: Promise<ActivityRow[]>;
  freshUntilMs: number;
}

/** Returns a function that reads the figures of a span, or reuses those of a read before it. */
function openActivity(db: Database) {
  const reads = new Map<string, Known>();
  return (span: ActivitySpan): Promise<ActivityRow[]> => {
    const key = `${span.livemode} ${span.until.getTime() - span.from.getTime()}`;
    const known = reads.get(key);
    const isSame = known?.until.getTime() === span.until.getTime();
    if (known !== undefined && isSame && performance.now() < known.freshUntilMs) return known.rows;
    const begunMs = performance.now();
    const rows = selectActivity(db.standby, span);
    const read: Known = { until: span.until, rows, freshUntilMs: Number.POSITIVE_INFINITY };
    reads.set(key, read);
    const onEnd = (times: number) => {
      const endMs = performance.now();
      read.freshUntilMs = endMs + times * (endMs - begunMs);
    };
    rows.then(
      () => onEnd(REUSED_TIMES),
      () => onEnd(0),
    );
    return rows;
  };
}

export function activityRoute({ db }: ApiContext): PersonRoute {
  const readActivity = openActivity(db);
  return personRoute<typeof ActivityQuery>({
    method: 'GET',
    path: '/networks/{network}/activity',
    operationId: 'readNetworkActivity',
    moves: 'nothing',
    tag: 'Network',
    summary: 'Retrieve volume, success, time to paid and gas per payment, by hour or day',
    description: 'Counted from the stored sales, each when it was created.',
    access: 'operator',
    params: { network: 'text' },
    query: ActivityQuery,
    response: ActivitySchema,
    errors: ['resource_missing'],
    handle: async ({ params, query: { period = 'day' }, now }) => {
      const livemode = livemodeOf(params.network);
      if (isRefusal(livemode)) return livemode;
      const { every, starts, from, until } = spanOf(period, now);
      const rows = await readActivity({ livemode, from, until, every });
      const byStart = new Map(rows.map((row) => [row.start?.getTime() ?? null, row]));
      const total = figuresView(byStart.get(null) ?? NONE);
      const data = starts.map((start) => {
        return { start, ...figuresView(byStart.get(start.getTime()) ?? NONE) };
      });
      const network = networkOf(livemode);
      return answerWith(200, {
        object: 'network_activity',
        network,
        from,
        until,
        every,
        total,
        data,
      });
    },
  });
}
