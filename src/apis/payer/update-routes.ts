import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { renderConfirmations, stillAsked } from '#apis/payer/confirmation-routes.ts';
import { updatePolls } from '#apis/payer/payer-long-polls.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { UpdatesQuery, UpdatesSchema } from '#apis/payer/payer-schema.ts';
import {
  askedDigest,
  newResults,
  openTold,
  sealTold,
  type Told,
  tellAll,
} from '#apis/payer/update-cursor.ts';
import { createWaiters } from '#apis/payer/update-waiters.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { toJsonAtoms, ZERO } from '#core/money.ts';
import type { WaitLimits } from '#db/long-polls.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { paidNow, renderPaid, renderPaidPrice } from '#payments/paid-quote.ts';
import type { PayerResult } from '#payments/payer-results.ts';
import { totalCharged } from '#payments/payment.ts';
import { type ReceiptPages, receiptUrl } from '#payments/receipt-url.ts';

function renderResult(result: PayerResult, pages: ReceiptPages) {
  const { merchant } = result;
  if ('payment' in result) {
    const { payment } = result;
    return {
      payment_intent: payment.payment_intent_id,
      result: 'paid',
      merchant,
      presentment: renderPaidPrice(payment),
      total_charged: toJsonAtoms(totalCharged(payment)),
      receipt_url: receiptUrl(payment, pages),
      decline_code: null,
    };
  }
  const { declined } = result;
  return {
    payment_intent: declined.id,
    result: 'declined',
    merchant,
    presentment: renderPaid(declined, ZERO, paidNow(declined, ZERO)),
    total_charged: null,
    receipt_url: null,
    decline_code: declined.last_payment_error?.decline_code ?? null,
  };
}

interface Asking extends WaitLimits {
  readonly payerId: string;
  /** `null` for a wallet's first request, whose response leaves out what ended earlier. */
  readonly told: Told | null;
}

/** Waits for an update. @returns the state after `waitMs` at the latest, with what is new in it. */
async function nextUpdate(ctx: ApiContext, { payerId, told: before, ...limits }: Asking) {
  const polls = updatePolls(ctx);
  let told = before;
  const look = async () => {
    const now = ctx.clock.now();
    const { asked = [], results = [] } = (await polls.read(payerId)) ?? {};
    const read = { asked: stillAsked(asked, now), results };
    told ??= { ...tellAll(now, read), asked: askedDigest([]) };
    const ended = newResults(told, results);
    const isNew = ended.length > 0 || askedDigest(read.asked) !== told.asked;
    return { asked: read.asked, ended, isNew, told: tellAll(now, read) };
  };
  let last: Awaited<ReturnType<typeof look>> | undefined;
  await polls.until(payerId, limits, async () => {
    last = await look();
    return last.isNew ? last : undefined;
  });
  return present(last, 'state of a wallet');
}

export function updateRoutes(ctx: ApiContext): PayerRoute[] {
  const waiters = createWaiters();
  const route = payerRoute<typeof UpdatesQuery>({
    method: 'GET',
    path: '/updates',
    operationId: 'listUpdates',
    moves: 'nothing',
    summary: 'Wait for confirmations and for results of payments',
    description:
      'With `wait` this is a long poll: the response is sent as soon as the confirmations differ ' +
      'from those of the response whose `cursor` is in `after`, or a payment has ended since, ' +
      'paid or declined. Without `after`, only what ends from now on. Results are news for an ' +
      'hour; payments by agents are left out.',
    query: UpdatesQuery,
    responses: { 200: { schema: UpdatesSchema, description: 'What is new.' } },
    errors: ['cursor_invalid', 'rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, query, whenGone }) => {
      const { id: payerId } = payerOfCaller(caller);
      const cursorKey = ctx.keys.cursor;
      const list = 'updates of a payer';
      const pagination = { list, tenant: caller.tenant, query: {}, cursorKey };
      const told = query.after === undefined ? null : openTold(pagination, query.after);
      if (isRefusal(told)) return told;
      const waitMs = (query.wait ?? 0) * 1000;
      const free = waitMs === 0 ? () => {} : waiters.take(payerId);
      if (isRefusal(free)) return free;
      try {
        const update = await nextUpdate(ctx, { payerId, told, waitMs, gone: whenGone() });
        return answerWith(200, {
          confirmations: await renderConfirmations(ctx, update.asked),
          ended: update.ended.map((result) => renderResult(result, ctx.pages)),
          cursor: sealTold(pagination, update.told),
        });
      } finally {
        free();
      }
    },
  });
  return [route];
}
