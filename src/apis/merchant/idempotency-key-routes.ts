import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import type { Database } from '#db/database.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { nullable, objectType, oneOf, Timestamp } from '#http/schema.ts';
import { type KeyRow, selectKey } from '#idempotency/key-queries.ts';

const IdempotencyKeySchema = Type.Object(
  {
    object: objectType('idempotency_key'),
    key: Type.String({ description: 'The Idempotency-Key of the request.' }),
    status: oneOf(['in_progress', 'completed'], 'in_progress: the first request is still running.'),
    method: Type.String({ description: 'The HTTP method of the first request.' }),
    path: Type.String({ description: 'The path of the first request.' }),
    resource: nullable(
      Type.String({ description: 'The id of the object that the request created or changed.' }),
    ),
    response_status: nullable(Type.Integer({ description: 'The HTTP status of the response.' })),
    created: Timestamp,
    expires_at: Timestamp,
  },
  {
    title: 'IdempotencyKey',
    description: 'The result of the request that was sent with this key.',
  },
);

const EXAMPLE = {
  object: 'idempotency_key',
  key: '7d8f2c54-6b0a-4f6e-9f43-2a1c5f0e8b11',
  status: 'completed',
  method: 'POST',
  path: '/v1/payment_intents',
  resource: 'pi_01QzXo0KcV5sVQ2pWm8Tn3',
  response_status: 201,
  created: '2026-10-01T12:00:00.000Z',
  expires_at: '2026-10-03T12:00:00.000Z',
} as const;

function renderKey(row: KeyRow) {
  return {
    object: 'idempotency_key',
    key: row.key,
    status: row.status,
    method: row.method,
    path: row.path,
    resource: row.resource,
    response_status: row.response_status,
    created: row.created.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}

/**
 * Returns the route that shows the result of a request whose response was lost (behavior.md 9.9).
 */
export function idempotencyRoutes(ctx: { readonly db: Database }): AnyRoute<MerchantCaller>[] {
  const retrieve = defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/idempotency_keys/{key}',
    operationId: 'retrieveIdempotencyKey',
    moves: 'nothing',
    tag: 'Idempotency keys',
    summary: 'Find the result of a request',
    description:
      'Use it when the response to a request was lost: it says whether the request is still ' +
      'running, and which object it concerns. Percent-encode the key in the path.',
    scope: 'payments:read',
    idempotency: 'ignored',
    params: { key: 'text' },
    responses: {
      200: { schema: IdempotencyKeySchema, description: 'The key.', example: EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const filter = { caller: caller.idempotencySpace, key: params.key ?? '', now };
      const row = await selectKey(ctx.db, caller.tenant, filter);
      if (row === undefined) return resourceMissing('idempotency key', 'key');
      return answerWith(200, renderKey(row));
    },
  });
  return [retrieve];
}
