import Type from 'typebox';
import {
  LocationQuery,
  readSections,
  type Section,
} from '#apis/dashboard/organizations/organization-sections.ts';
import { ORGANIZATION_MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { nameOut } from '#apis/dashboard/person-schema.ts';
import { sumTotals } from '#apis/merchant/shift-totals.ts';
import { figuresOut, TotalsQuery } from '#apis/merchant/totals-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { type Days, dayBounds, dayIn } from '#core/calendar.ts';
import { checkDays } from '#core/check-day-range.ts';
import { networkOf } from '#core/mode.ts';
import { accountTime } from '#db/commit-order.ts';
import type { Sql } from '#db/database.ts';
import { commonFields, Day, idOf, nullable } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectTotals, type TotalsOf, type TotalsRow } from '#payments/shift-totals-queries.ts';

const Query = Type.Object({
  from: TotalsQuery.properties.from,
  to: TotalsQuery.properties.to,
  location: Type.Optional(LocationQuery),
});

const OrganizationTotals = Type.Object(
  {
    ...commonFields('totals'),
    organization: idOf('org_', 'organization'),
    from: { ...Day, description: 'The first day of any location.' },
    to: { ...Day, description: 'The last day of any location.' },
    total: Type.Object(figuresOut, { description: 'The sum of the locations below.' }),
    locations: Type.Array(
      Type.Object({
        location: nullable({
          ...idOf('loc_', 'location'),
          description: '`null` for what an account sold at no location.',
        }),
        name: nullable(nameOut('The name of the location.')),
        account: idOf('acct_', 'account'),
        time_zone: nameOut('Its days begin at `day_starts_at` in this zone.'),
        from: Day,
        to: Day,
        ...figuresOut,
      }),
      { description: 'Each location, and each account that sold at none.' },
    ),
  },
  { title: 'OrganizationTotals', description: 'The sums of an organization, by location.' },
);

interface Counted {
  readonly section: Section;
  readonly days: Days;
  readonly rows: readonly TotalsRow[];
}

type ReadTotals = (filter: TotalsOf) => Promise<TotalsRow[]>;

/**
 * Returns a reader that runs each query once: most locations of an account share a time zone, and
 * so a period.
 */
function readsOnce(sql: Sql): ReadTotals {
  const read = new Map<string, Promise<TotalsRow[]>>();
  return (filter) => {
    const { tenant, since, until } = filter;
    const key = `${tenant.accountId} ${since.getTime()} ${until.getTime()}`;
    const rows = read.get(key) ?? selectTotals(sql, filter);
    read.set(key, rows);
    return rows;
  };
}

/** Counts the days of one section, in its own time zone. */
async function countSection(
  { sql, read }: { readonly sql: Sql; readonly read: ReadTotals },
  section: Section,
  input: { readonly from: string | undefined; readonly to: string | undefined; readonly now: Date },
): Promise<Counted> {
  const { tenant, shop } = section;
  const { from, to, now } = input;
  const first = from ?? dayIn(shop, await accountTime(sql, tenant, now));
  const days = { from: first, to: to ?? first };
  const bounds = dayBounds(shop, days.from, days.to);
  const all = await read({ tenant, terminalId: null, ...bounds });
  const rows = all.filter((row) => row.location_id === (section.location?.id ?? null));
  return { section, days, rows };
}

function sectionView({ section: { location, account, shop }, days, rows }: Counted) {
  const { id = null, name = null } = location ?? {};
  const place = { location: id, name, account: account.id, time_zone: shop.timeZone };
  return { ...place, ...days, ...sumTotals(rows) };
}

/** False for an account's section without a location if it has no sales. */
function isShown({ section, rows }: Counted): boolean {
  return section.location !== null || rows.length > 0;
}

export function organizationTotalsRoute({ db }: ApiContext): PersonRoute {
  return personRoute<typeof Query>({
    method: 'GET',
    path: `${ORGANIZATION_MODE}/totals`,
    operationId: 'readOrganizationTotals',
    moves: 'nothing',
    tag: 'Organizations',
    summary: 'Retrieve the totals of an organization by location',
    description:
      'Each location counts days in its own time zone, what was sold at none in its account’s. ' +
      'Without `from`, each counts its own today.',
    access: 'viewer',
    query: Query,
    response: OrganizationTotals,
    handle: async (request) => {
      const { caller, params, query, now } = request;
      const { from, to } = query;
      const wrong = from === undefined ? null : checkDays(from, to ?? from);
      if (wrong !== null) return wrong;
      const sections = await readSections(db.standby, request, query.location);
      if (isRefusal(sections)) return sections;
      const counted: Counted[] = [];
      const reading = { sql: db.standby, read: readsOnce(db.standby) };
      for (const section of sections) {
        counted.push(await countSection(reading, section, { from, to, now }));
      }
      const days = counted.map((one) => one.days);
      const today = dayIn('UTC', now);
      const { livemode } = caller.tenant;
      return answerWith(200, {
        object: 'totals',
        livemode,
        network: networkOf(livemode),
        organization: params.org,
        from: days.map((one) => one.from).toSorted()[0] ?? from ?? today,
        to:
          days
            .map((one) => one.to)
            .toSorted()
            .at(-1) ??
          to ??
          from ??
          today,
        total: sumTotals(counted.flatMap(({ rows }) => rows)),
        locations: counted.filter(isShown).map(sectionView),
      });
    },
  });
}
