import Type from 'typebox';
import { MODE, personRoute } from '#apis/dashboard/person-route.ts';
import { answerWith } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { atoms, MAX_AMOUNT } from '#core/money.ts';
import { accountTime } from '#db/commit-order.ts';
import { openObject, Timestamp } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectPastPayments } from '#risk/preview-queries.ts';
import { previewRisk } from '#risk/preview-risk-rules.ts';

const WEEK_MS = 7 * DAY_MS;
/**
 * Maximum number of payments that are replayed; this takes about 0.2 s. In a busier week, the
 * newest payments represent the others.
 */
const MAX_PAYMENTS = 20_000;

const Limit = Type.Integer({ minimum: 0, maximum: MAX_AMOUNT, description: 'Atoms.' });

const PreviewQuery = Type.Object({
  first_payment_confirm_from: Type.Optional(Limit),
  high_amount_confirm_from: Type.Optional(Limit),
  velocity_per_hour: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Payments of one payer within an hour.',
    }),
  ),
});

const PreviewSchema = Type.Object(
  {
    since: Timestamp,
    payments: Type.Integer({ description: 'Payments that were examined.' }),
    stopped: Type.Integer({ description: 'Of these: declined.' }),
    asked: Type.Integer({ description: 'Of these: the payer would have been asked to confirm.' }),
    by_rule: openObject('Name of the rule to number of payments.'),
    truncated: Type.Boolean({
      description: 'True if there were more: only the newest were examined.',
    }),
  },
  {
    description:
      'The number of payments that each rule would have declined or held for confirmation.',
  },
);

function toLimit(value: number | undefined) {
  return value === undefined ? null : atoms(value);
}

export function riskPreviewRoute({ db }: ApiContext) {
  return personRoute<typeof PreviewQuery>({
    method: 'GET',
    path: `${MODE}/risk_settings/preview`,
    operationId: 'previewRiskSettings',
    moves: 'nothing',
    tag: 'Risk',
    summary: 'Preview a risk policy on the payments of the last seven days',
    description:
      'A rule that is omitted is switched off. Payments are replayed in their order: one that ' +
      "would have been declined does not count for later ones. Payers' own settings to always " +
      'confirm a first payment are ignored. Sums are compared in atoms, so a limit in the shop’s ' +
      'currency, converted at today’s rate, gives an estimate.',
    access: 'viewer',
    query: PreviewQuery,
    response: PreviewSchema,
    handle: async ({ caller: { tenant }, query, now }) => {
      const settings = {
        firstPaymentConfirmFrom: toLimit(query.first_payment_confirm_from),
        highAmountConfirmFrom: toLimit(query.high_amount_confirm_from),
        velocityPerHour: query.velocity_per_hour ?? null,
      };
      const since = addMs(await accountTime(db, tenant, now), -WEEK_MS);
      const filter = { tenant, since, limit: MAX_PAYMENTS + 1 };
      const payments = await selectPastPayments(db.standby, filter);
      const { byRule, ...counts } = previewRisk(settings, payments.slice(-MAX_PAYMENTS));
      const truncated = payments.length > MAX_PAYMENTS;
      return answerWith(200, { since, ...counts, by_rule: byRule, truncated });
    },
  });
}
