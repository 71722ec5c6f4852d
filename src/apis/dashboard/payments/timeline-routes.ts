import { readTimeline, TimelineSchema } from '#apis/dashboard/payments/read-timeline.ts';
import { MODE, personRoute } from '#apis/dashboard/person-route.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import { asOf } from '#payments/payment-intent.ts';

const TAG = 'Payment intents';

export function timelineRoute(ctx: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/payment_intents/{id}/timeline`,
    operationId: 'readTimeline',
    moves: 'nothing',
    tag: TAG,
    summary: "Retrieve a payment intent's settlement attempts, its events, and their deliveries",
    access: 'viewer',
    params: { id: 'paymentIntent' },
    response: TimelineSchema,
    handle: async ({ caller: { tenant }, params, now }) => {
      const intent = await selectIntent(ctx.db, tenant, params.id ?? '');
      if (intent === null) return resourceMissing('payment intent');
      const { view } = await readTimeline(ctx, asOf(intent, now), now);
      return answerWith(200, view);
    },
  });
}
