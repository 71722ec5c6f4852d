import Type from 'typebox';
import { MODE, personRoute, recordChange } from '#apis/dashboard/person-route.ts';
import { DeliverySchema } from '#apis/merchant/webhook-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { nullable, objectType, oneOf, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { checkReceiver, renderReceiverCheck } from '#webhooks/check-receiver.ts';

const ProbeSchema = Type.Object({
  taken: Type.Boolean({ description: 'True if the receiver responded with a 2xx status.' }),
  response_status: nullable(
    Type.Integer({ description: 'The HTTP status of the response; `null` if there was none.' }),
  ),
  error: nullable(textOut('The reason why there was no response, or null.')),
  duration_ms: Type.Integer({ description: 'The duration, in milliseconds.' }),
});

const CheckSchema = Type.Object(
  {
    object: objectType('receiver_check'),
    verdict: oneOf(
      ['checks_signatures', 'takes_old', 'takes_forged', 'not_reached'] as const,
      'takes_old: it also accepts an event that was signed ten minutes ago. takes_forged: it ' +
        'also accepts one that was signed with another secret. not_reached: it did not even ' +
        'accept the valid one.',
    ),
    delivery: DeliverySchema,
    forged: nullable({
      ...ProbeSchema,
      description: 'The event that was signed with another secret; `null` if it was not sent.',
    }),
    old: nullable({
      ...ProbeSchema,
      description: 'The event that was signed ten minutes ago; `null` if it was not sent.',
    }),
  },
  { description: 'The receiver’s responses, and the conclusion.' },
);

export function receiverCheckRoute(ctx: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/webhook_endpoints/{id}/check_receiver`,
    operationId: 'checkReceiver',
    moves: 'nothing',
    tag: 'Webhook endpoints',
    summary: 'Check whether the receiver verifies signatures',
    description:
      'Sends a ping with a valid signature. If the receiver accepts it, two more follow: one ' +
      'is signed with another secret, the other ten minutes ago. The receiver should refuse ' +
      'both. The check takes at most 20 s.',
    access: 'admin',
    params: { id: 'webhookEndpoint' },
    response: CheckSchema,
    errors: ['resource_missing'],
    handle: async (request) => {
      const { caller, params } = request;
      const objectId = params.id ?? '';
      const checked = await checkReceiver(ctx, caller.tenant, objectId, ctx.clock);
      if (isRefusal(checked)) return checked;
      await ctx.db.transaction((tx) =>
        recordChange(tx, request, {
          action: 'webhook_endpoint.receiver_checked',
          objectId,
          after: { verdict: checked.verdict },
        }),
      );
      return answerWith(200, renderReceiverCheck(checked));
    },
  });
}
