import Type from 'typebox';
import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { answerWith, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { nullable, objectType } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { deletePush, isPushed, upsertPush } from '#push/push-queries.ts';
import { checkEndpointUrl, MAX_URL_LENGTH } from '#webhooks/endpoint-url.ts';

const PushSchema = Type.Object(
  {
    object: objectType('push'),
    public_key: nullable(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{87}$',
        minLength: 87,
        maxLength: 87,
        examples: [
          'BOOl_-1ahGEvUcvcFrzvcNl-dAMhhyIe_ZpDFuf3fVTVqjr9S5lzR2PBl9FnR0_MVSP7FwpHHLlT1sYUlkcqZ8A',
        ],
        description:
          'The key that a browser subscribes for (`applicationServerKey`, base64url). `null` if ' +
          'the operator has not set up Web Push.',
      }),
    ),
    subscribed: Type.Boolean({
      description: 'True if the browser of this session gets notifications.',
    }),
  },
  { title: 'Push', description: 'The data that a browser needs for Web Push.' },
);

const PushBody = Type.Object({
  endpoint: Type.String({
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description: 'The `endpoint` of the browser’s `PushSubscription`.',
  }),
});

const shared = {
  path: '/push',
  responses: { 200: { schema: PushSchema, description: 'The current state.' } },
} as const;

function answerOf({ settings: { push } }: ApiContext, subscribed: boolean) {
  const key = push?.publicKey.toString('base64url') ?? null;
  return answerWith(200, { object: 'push', public_key: key, subscribed });
}

const sessionOf = ({ sessionHash }: PayerCaller) => present(sessionHash, 'session of a payer');

function readRoute(ctx: ApiContext) {
  return payerRoute({
    ...shared,
    method: 'GET',
    operationId: 'retrievePush',
    moves: 'nothing',
    summary: 'Check whether this browser is notified while the wallet is closed',
    handle: async ({ caller }) => answerOf(ctx, await isPushed(ctx.db, sessionOf(caller))),
  });
}

function saveRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof PushBody>({
    ...shared,
    method: 'PUT',
    operationId: 'savePush',
    moves: 'data',
    summary: 'Notify this browser when a payment waits for confirmation',
    description:
      'Until the session ends. A notification has no content: the push service learns nothing.',
    body: PushBody,
    bodyExample: { endpoint: 'https://push.example.com/send/f3kQ0Zx' },
    errors: ['not_configured', 'url_not_allowed'],
    handle: async ({ caller, body, now }) => {
      if (ctx.settings.push === null) {
        return refuse('not_configured', 'The operator of this network has not set up Web Push.');
      }
      const payer = payerOfCaller(caller);
      const check = { livemode: payer.livemode, ...ctx.outside.push };
      const refused = await checkEndpointUrl(body.endpoint, check);
      if (refused !== null) return { ...refused, param: 'endpoint' };
      const sessionHash = sessionOf(caller);
      await upsertPush(ctx.db, { sessionHash, payerId: payer.id, endpoint: body.endpoint, now });
      return answerOf(ctx, await isPushed(ctx.db, sessionHash));
    },
  });
}

function endRoute(ctx: ApiContext) {
  return payerRoute({
    ...shared,
    method: 'DELETE',
    operationId: 'deletePush',
    moves: 'data',
    summary: 'Stop notifying this browser',
    handle: async ({ caller }) => {
      await deletePush(ctx.db, sessionOf(caller));
      return answerOf(ctx, false);
    },
  });
}

/**
 * Declares the routes that read, start and end Web Push for the browser of this session
 * (behavior.md 14.6).
 */
export function pushRoutes(ctx: ApiContext): PayerRoute[] {
  return [readRoute(ctx), saveRoute(ctx), endRoute(ctx)];
}
