import Type from 'typebox';
import { selectShopDays } from '#accounts/shop-days.ts';
import { STATEMENT_TYPES, statementStream } from '#apis/dashboard/exports/statement-route.ts';
import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { selectExportByLink } from '#books/export-schedule-queries.ts';
import { openDays } from '#books/statement.ts';
import type { StatementFormat } from '#books/statement-formats.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import { hashSecret, isSecret } from '#core/bearer-secrets.ts';
import { nullable, oneOf, Timestamp, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type PayoutReason, SKIPPED, WAITING } from '#payouts/automatic-payout.ts';
import {
  type AutomaticPayout,
  PAYOUT_PERIODS,
  selectPayouts,
} from '#payouts/automatic-payout-queries.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

/**
 * This file has the routes for schedules: automatic payouts, and statements that are sent as links.
 */

function downloadRoute({ db }: ApiContext): PersonRoute {
  return personRoute({
    method: 'GET',
    path: '/exports/{token}',
    operationId: 'downloadExport',
    // `data`, not `nothing`: reading a statement closes its period, like every export of a
    // statement.
    moves: 'data',
    tag: 'Exports',
    summary: 'Download the statement of a link from `export.ready`',
    description: 'Needs no session: the link is the secret. It ends within seven days.',
    access: 'public',
    params: { token: 'text' },
    returns: 'The file of the period.',
    sends: STATEMENT_TYPES,
    errors: ['resource_missing', 'parameter_invalid', 'service_unavailable'],
    handle: async ({ params, now }) => {
      const { token = '' } = params;
      if (!isSecret('exportLink', token)) return resourceMissing('export');
      const row = await selectExportByLink(db, { hash: hashSecret(token), now });
      if (row === undefined) return resourceMissing('export');
      const { account_id: accountId, livemode, time_zone: timeZone, from_day, to_day } = row;
      const tenant = { accountId, livemode };
      const closed = checkLedger(db.watch, livemode);
      if (closed !== null) return closed;
      const days = { from: from_day, to: to_day };
      const shop = { ...(await selectShopDays(db, tenant)), timeZone };
      const statement = await openDays(db, { tenant, shop, now }, days);
      const format = row.format as StatementFormat;
      return statementStream(db, statement, { format, maySplit: true });
    },
  });
}

const AutomaticPayoutSchema = Type.Object(
  {
    every: oneOf(PAYOUT_PERIODS, 'The length of the period.'),
    period: textOut('Its first day, YYYY-MM-DD.'),
    status: oneOf(
      ['requested', 'skipped', 'waiting'] as const,
      '`waiting` is tried again until the next period ends.',
    ),
    reason: nullable(
      oneOf(Object.keys(SKIPPED) as PayoutReason[], 'Why nothing was paid. The list may grow.'),
    ),
    message: nullable(textOut('The reason, in words.')),
    withdrawal: nullable(textOut('The id of the withdrawal.')),
    updated: Timestamp,
  },
  { title: 'AutomaticPayout' },
);

/** Number of periods that are shown, newest first: a quarter if a period is a day. */
const SHOWN = 92;

function messageOf(status: AutomaticPayout['status'], reason: PayoutReason): string {
  return status === 'waiting' && reason in WAITING
    ? WAITING[reason as keyof typeof WAITING]
    : SKIPPED[reason];
}

function payoutsRoute({ db }: ApiContext): PersonRoute {
  return personRoute({
    method: 'GET',
    path: `${MODE}/automatic_payouts`,
    operationId: 'listAutomaticPayouts',
    moves: 'nothing',
    tag: 'Money',
    summary: 'List the ends of periods, with what was paid out or why nothing was',
    description: `The newest ${SHOWN} periods.`,
    access: 'viewer',
    response: listed(AutomaticPayoutSchema, 'The periods, the newest first.'),
    handle: async ({ caller: { tenant } }) => {
      const rows = await selectPayouts(db, tenant, SHOWN);
      const data = rows.map(({ every, period, status, reason, withdrawal_id, updated }) => ({
        ...{ every, period, status, reason },
        message: reason === null ? null : messageOf(status, reason as PayoutReason),
        ...{ withdrawal: withdrawal_id, updated },
      }));
      return answerWith(200, { object: 'list', data });
    },
  });
}

export function scheduleRoutes(deps: ApiContext): PersonRoute[] {
  return [downloadRoute(deps), payoutsRoute(deps)];
}
