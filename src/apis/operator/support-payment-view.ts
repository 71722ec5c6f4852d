import Type from 'typebox';
import type { AccountRow } from '#accounts/account-queries.ts';
import { readTimeline, TimelineSchema } from '#apis/dashboard/payments/read-timeline.ts';
import { IntentForPeople, PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { RefundSchema } from '#apis/merchant/refund-schema.ts';
import { requestFields, requestView } from '#apis/merchant/request-log-routes.ts';
import { FINDINGS, findingsOf, type SupportFacts } from '#apis/operator/explain-payment-state.ts';
import {
  type ChainRequestRow,
  selectChainRequests,
} from '#apis/operator/support-payment-queries.ts';
import { tenantOf } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { idOf, nullable, objectType, oneOf, Timestamp, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { Payment } from '#payments/payment.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { renderIntentForPeople, renderPayment } from '#payments/render.ts';
import type { Refund } from '#refunds/refund.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { selectRequests } from '#request-log/request-log-queries.ts';
import { selectTerminal } from '#terminals/terminal-queries.ts';
import { selectEndpoints } from '#webhooks/endpoint-queries.ts';

const AttemptSchema = Type.Object({
  tx_hash: textOut('The transaction that was signed.'),
  cancels: Type.Boolean({
    description: 'true for a cancellation transaction, which only consumes the nonce.',
  }),
  mined: Type.Boolean({ description: 'true if this transaction is in a block.' }),
  max_fee_per_gas: textOut('The price offered per unit of gas, in wei.'),
  created: Timestamp,
});

const ChainRequestSchema = Type.Object({
  kind: oneOf(['payment', 'refund'] as const, 'The kind of settlement job.'),
  subject: textOut('The intent or refund of the job.'),
  status: oneOf(['queued', 'submitted', 'succeeded', 'failed'] as const, 'The status of the job.'),
  tries: Type.Integer({ description: 'Transactions that were mined without a result for it.' }),
  created: Timestamp,
  booked_at: nullable(Timestamp),
  failure: nullable(textOut('The reason why nothing moved, or null.')),
  blocked_by: nullable(textOut('The reason for its delay, or null.')),
  sender: nullable(Type.Integer({ description: 'The sender that carries it.' })),
  address: nullable(textOut('The address of that sender.')),
  nonce: nullable(textOut('The nonce, in decimal digits.')),
  transaction_status: nullable(textOut('signed, mined, finalized, or foreign.')),
  block_number: nullable(textOut('The block, in decimal digits.')),
  attempts: Type.Array(AttemptSchema, {
    description: 'Every transaction that was signed with that nonce, oldest first.',
  }),
});

const FindingSchema = Type.Object({
  code: oneOf(FINDINGS, 'The state of the payment, or the cause of its delay.'),
  since: nullable(Timestamp),
  about: nullable(textOut("An id, a code, or a third party's words.")),
});

export const SupportViewSchema = Type.Object(
  {
    object: objectType('support_view'),
    look_until: Timestamp,
    account: Type.Object(
      {
        id: idOf('acct_', 'account'),
        name: textOut('The name of the account.'),
        status: oneOf(['active', 'disabled'] as const, 'disabled: the account cannot be used.'),
      },
      { description: 'The merchant of the payment.' },
    ),
    mode: oneOf(['test', 'live'] as const, 'The mode.'),
    terminal: Type.Object(
      {
        id: idOf('tml_', 'terminal'),
        name: textOut('The name of the terminal.'),
        status: oneOf(['active', 'inactive'] as const, 'inactive: the terminal cannot be used.'),
        last_seen: nullable(Timestamp),
      },
      { description: 'The terminal that requested the payment.' },
    ),
    findings: Type.Array(FindingSchema, {
      description: 'The reasons for its state, the most important first.',
    }),
    payment_intent: IntentForPeople,
    payment: nullable(
      Type.Object(PaymentSchema.properties, {
        description: 'The payment; `null` until it is paid.',
      }),
    ),
    refunds: Type.Array(RefundSchema, { description: 'The refunds of the payment.' }),
    timeline: TimelineSchema,
    chain_requests: Type.Array(ChainRequestSchema, {
      description: 'The settlement jobs, with nonces and transactions, oldest first.',
    }),
    requests: Type.Array(Type.Object(requestFields), {
      description: 'Requests of the last 30 days that changed it, newest first.',
    }),
  },
  { description: 'A merchant’s payment as support sees it.' },
);

/**
 * Maximum number of entries of each kind: more than a payment has, unless a client malfunctions.
 */
const MOST = 50;
const FIRST = { limit: MOST, after: null };

function chainRequestView(row: ChainRequestRow) {
  const { subject_id, applied_at, reason, nonce, block_number, blocked_since: _s, ...rest } = row;
  return {
    ...rest,
    subject: subject_id,
    booked_at: applied_at,
    failure: reason,
    nonce: nonce?.toString() ?? null,
    block_number: block_number?.toString() ?? null,
  };
}

async function readRequests(sql: Sql, intent: PaymentIntent, ids: readonly string[]) {
  const none = { status: null, failed: false, byServers: false, operation: null, callerId: null };
  const times = { createdGte: null, createdLt: null };
  const pages = await Promise.all(
    ids.map((objectId) => {
      const filters = { ...none, ...times, objectId };
      return selectRequests(sql, { tenant: tenantOf(intent), filters }, FIRST);
    }),
  );
  return pages.flat().sort((a, b) => b.created.getTime() - a.created.getTime());
}

interface Money {
  readonly payment: Payment | null;
  readonly refunds: readonly Refund[];
}

async function readMoney(sql: Sql, intent: PaymentIntent): Promise<Money> {
  if (intent.status !== 'succeeded') return { payment: null, refunds: [] };
  const { payment_id: paymentId } = intent;
  const tenant = tenantOf(intent);
  const page = { ...FIRST, createdGte: null, createdLt: null };
  const [payment, refunds] = await Promise.all([
    selectPayment(sql, tenant, paymentId),
    selectRefundPage(sql, { tenant, paymentId }, page),
  ]);
  return { payment, refunds };
}

function blockedOf(rows: readonly ChainRequestRow[]): SupportFacts['blocked'] {
  return new Map(
    rows.flatMap(({ subject_id, status, blocked_since: since, blocked_by: by }) =>
      since !== null && by !== null && status === 'queued'
        ? [[subject_id, { since, by }] as const]
        : [],
    ),
  );
}

export async function readSupportView(
  ctx: ApiContext,
  input: {
    readonly intent: PaymentIntent;
    readonly account: AccountRow;
    readonly now: Date;
  },
) {
  const { db, readiness, pages: receipts } = ctx;
  const { intent, account, now } = input;
  const tenant = tenantOf(intent);
  const { payment, refunds } = await readMoney(db, intent);
  const ids = [intent.id, ...(payment === null ? [] : [payment.id])];
  const [timeline, chainRequests, requests, terminal, endpoints] = await Promise.all([
    readTimeline(ctx, intent, now),
    selectChainRequests(db, {
      intentId: intent.id,
      paymentId: payment?.id ?? null,
      livemode: tenant.livemode,
      number: intent.settlement_number,
    }),
    readRequests(db, intent, ids),
    selectTerminal(db, tenant, intent.terminal_id),
    selectEndpoints(db, tenant),
  ]);
  const findings = findingsOf({
    intent,
    settledAt: payment?.settled_at ?? null,
    attempt: timeline.attempts.at(-1) ?? null,
    reasons: readiness.of(tenant.livemode).reasons,
    accountStatus: account.status,
    terminal: {
      status: terminal?.status ?? 'inactive',
      lastSeen: terminal?.last_seen_at ?? null,
    },
    endpoints,
    deliveries: timeline.deliveries,
    refunds,
    blocked: blockedOf(chainRequests),
    now,
  });
  return {
    object: 'support_view',
    account: { id: account.id, name: account.name, status: account.status },
    mode: tenant.livemode ? 'live' : 'test',
    terminal: {
      id: intent.terminal_id,
      name: terminal?.name ?? intent.terminal_id,
      status: terminal?.status ?? 'inactive',
      last_seen: terminal?.last_seen_at ?? null,
    },
    findings,
    payment_intent: renderIntentForPeople(intent),
    payment: payment === null ? null : renderPayment(payment, receipts),
    refunds: refunds.map((refund) => renderRefund(refund, receipts)),
    timeline: timeline.view,
    chain_requests: chainRequests.map(chainRequestView),
    requests: requests.map(requestView),
  };
}
