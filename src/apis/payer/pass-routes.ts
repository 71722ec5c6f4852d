import type { Static } from 'typebox';
import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { ownListRoute } from '#apis/payer/page-of-own-objects.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import {
  LimitsBody,
  NewPassBody,
  NewPassSchema,
  PassSchema,
  PayerSchema,
} from '#apis/payer/payer-schema.ts';
import { consentRefusal } from '#apis/payer/require-fresh-signature.ts';
import { answerWith, isRefusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { checkDirections } from '#core/name-rules.ts';
import { listOf } from '#http/schema.ts';
import { createPass } from '#payers/create-pass.ts';
import { noteCopiesChanged, PASS_COPIES, WALLETS } from '#payers/pass-copy-queries.ts';
import {
  countActivePasses,
  lockPayer,
  type PayerLimits,
  type PayerRow,
  revokePassRow,
  selectPasses,
  updatePayerLimits,
} from '#payers/payer-queries.ts';
import { renderPass, renderPayer } from '#payers/render.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** Maximum number of active passes: enough for a card, a phone, a watch, a ring, and spares. */
const MAX_ACTIVE_PASSES = 16;

function listRoute(ctx: ApiContext) {
  return ownListRoute(ctx, {
    of: 'passes',
    path: '/passes',
    operationId: 'listPasses',
    response: { schema: listOf(PassSchema), description: 'One page.' },
    select: selectPasses,
    render: (rows, { livemode }) => rows.map((row) => renderPass(row, livemode)),
  });
}

function createRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof NewPassBody>({
    method: 'POST',
    path: '/passes',
    operationId: 'createPass',
    moves: 'money',
    summary: 'Create a pass; its credential is shown only once',
    body: NewPassBody,
    bodyExample: { label: 'Phone' },
    responses: { 201: { schema: NewPassSchema, description: 'The pass and its credential.' } },
    errors: ['unexpected_state'],
    handle: async ({ caller, body, now }) => {
      const turned = checkDirections(body.label ?? '', 'label');
      if (turned !== null) return turned;
      const { id: payerId, livemode } = payerOfCaller(caller);
      const created = await ctx.db.transaction(async (tx) => {
        await lockPayer(tx, payerId);
        if ((await countActivePasses(tx, payerId)) >= MAX_ACTIVE_PASSES) {
          return refuse(
            'unexpected_state',
            `A wallet can have at most ${MAX_ACTIVE_PASSES} active passes. Revoke one first.`,
          );
        }
        return createPass(tx, { payerId, label: body.label ?? '', now });
      });
      if (isRefusal(created)) return created;
      return answerWith(201, { ...renderPass(created.row, livemode), nfc_id: created.secret });
    },
  });
}

function revokeRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'DELETE',
    path: '/passes/{id}',
    operationId: 'revokePass',
    moves: 'access',
    asks: 'never',
    summary: 'Revoke a pass: no further tap with it is accepted',
    params: { id: 'pass' },
    responses: { 200: { schema: PassSchema, description: 'The revoked pass.' } },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const { id: payerId, livemode } = payerOfCaller(caller);
      const row = await ctx.db.transaction(async (tx) => {
        // A tap that is being decided holds this lock. After waiting for it, no tap is in progress
        // when the response is sent.
        await lockPayer(tx, payerId);
        const revoked = await revokePassRow(tx, { id: params.id ?? '', payerId, now });
        if (revoked === undefined) return undefined;
        await noteCopiesChanged(tx, { passId: revoked.id, wallets: WALLETS, now });
        return revoked;
      });
      if (row === undefined) return resourceMissing('pass');
      ctx.wakeups.send(PASS_COPIES);
      return answerWith(200, renderPass(row, livemode));
    },
  });
}

function limitsAfter(payer: PayerRow, body: Static<typeof LimitsBody>): PayerLimits {
  const limit = (value: number | null | undefined, before: bigint | null) => {
    if (value === undefined) return before;
    return value === null ? null : BigInt(value);
  };
  return {
    limit_per_payment: limit(body.per_payment, payer.limit_per_payment),
    limit_per_day: limit(body.per_day, payer.limit_per_day),
    confirm_first_payment: body.confirm_first_payment ?? payer.confirm_first_payment,
  };
}

/**
 * True if the payer's new limits allow payments that the old ones did not, or that needed
 * confirmation.
 */
function lifts(payer: PayerRow, limits: PayerLimits): boolean {
  const isHigher = (before: bigint | null, after: bigint | null) =>
    before !== null && (after === null || after > before);
  return (
    isHigher(payer.limit_per_payment, limits.limit_per_payment) ||
    isHigher(payer.limit_per_day, limits.limit_per_day) ||
    (payer.confirm_first_payment && !limits.confirm_first_payment)
  );
}

function limitsRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof LimitsBody>({
    method: 'PATCH',
    path: '/limits',
    operationId: 'updatePayerLimits',
    moves: 'money',
    asks: 'own',
    summary: "Change the payer's own limits",
    description:
      'Per payment and per UTC day, without fees; null removes a limit. Raising a limit, or ' +
      'ending the confirmation of first payments, needs a signature of the wallet that is at ' +
      'most five minutes old.',
    body: LimitsBody,
    bodyExample: { per_payment: 50000000, per_day: 200000000 },
    responses: { 200: { schema: PayerSchema, description: 'The payer.' } },
    handle: async ({ caller, body, now }) => {
      const { id } = payerOfCaller(caller);
      const changed = await ctx.db.transaction(async (tx) => {
        const payer = present(await lockPayer(tx, id), 'payer of a session');
        const limits = limitsAfter(payer, body);
        const refused = lifts(payer, limits) ? consentRefusal(caller, now) : null;
        return refused ?? updatePayerLimits(tx, { id, ...limits });
      });
      return isRefusal(changed) ? changed : answerWith(200, renderPayer(present(changed, 'payer')));
    },
  });
}

export function passRoutes(ctx: ApiContext): PayerRoute[] {
  return [listRoute(ctx), createRoute(ctx), revokeRoute(ctx), limitsRoute(ctx)];
}
