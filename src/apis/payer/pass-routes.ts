import type { Static } from 'typebox';
import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { answerOwnPage, OwnQuery, readOwnPage } from '#apis/payer/page-of-own-objects.ts';
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
import { type AnyRoute, defineRoute } from '#http/route.ts';
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

const TAG = 'Payer app';
/** Maximum number of active passes: enough for a card, a phone, a watch, a ring, and spares. */
const MAX_ACTIVE_PASSES = 16;

function listRoute(ctx: ApiContext) {
  return defineRoute<PayerCaller, typeof OwnQuery>({
    method: 'GET',
    path: '/passes',
    operationId: 'listPasses',
    moves: 'nothing',
    tag: TAG,
    summary: "List the payer's passes: active ones first, then newest first",
    scope: null,
    idempotency: 'ignored',
    query: OwnQuery,
    responses: { 200: { schema: listOf(PassSchema), description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller, query }) => {
      const { id, livemode } = payerOfCaller(caller);
      const cursorKey = ctx.keys.cursor;
      const pagination = { list: 'passes of a payer', tenant: caller.tenant, query, cursorKey };
      const page = readOwnPage(pagination, query);
      if (isRefusal(page)) return page;
      const found = await selectPasses(ctx.db, id, page);
      return answerOwnPage(pagination, page, found, (rows) =>
        rows.map((row) => renderPass(row, livemode)),
      );
    },
  });
}

function createRoute(ctx: ApiContext) {
  return defineRoute<PayerCaller, undefined, typeof NewPassBody>({
    method: 'POST',
    path: '/passes',
    operationId: 'createPass',
    moves: 'money',
    tag: TAG,
    summary: 'Create a pass; its credential is shown only once',
    scope: null,
    // The response must not be stored, because it contains the credential, of which only the hash
    // may be stored.
    idempotency: 'ignored',
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
  return defineRoute<PayerCaller>({
    method: 'DELETE',
    path: '/passes/{id}',
    operationId: 'revokePass',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Revoke a pass: no further tap with it is accepted',
    scope: null,
    idempotency: 'ignored',
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
function lifts(payer: PayerRow, wanted: PayerLimits): boolean {
  const isHigher = (before: bigint | null, after: bigint | null) =>
    before !== null && (after === null || after > before);
  return (
    isHigher(payer.limit_per_payment, wanted.limit_per_payment) ||
    isHigher(payer.limit_per_day, wanted.limit_per_day) ||
    (payer.confirm_first_payment && !wanted.confirm_first_payment)
  );
}

function limitsRoute(ctx: ApiContext) {
  return defineRoute<PayerCaller, undefined, typeof LimitsBody>({
    method: 'PATCH',
    path: '/limits',
    operationId: 'updatePayerLimits',
    moves: 'money',
    asks: 'own',
    tag: TAG,
    summary: "Change the payer's own limits",
    description:
      'Per payment and per UTC day, without fees; null removes a limit. Raising a limit, or ' +
      'ending the confirmation of first payments, needs a signature of the wallet that is at ' +
      'most five minutes old.',
    scope: null,
    idempotency: 'ignored',
    body: LimitsBody,
    bodyExample: { per_payment: 50000000, per_day: 200000000 },
    responses: { 200: { schema: PayerSchema, description: 'The payer.' } },
    errors: [],
    handle: async ({ caller, body, now }) => {
      const { id } = payerOfCaller(caller);
      const changed = await ctx.db.transaction(async (tx) => {
        const payer = present(await lockPayer(tx, id), 'payer of a session');
        const wanted = limitsAfter(payer, body);
        const refused = lifts(payer, wanted) ? consentRefusal(caller, now) : null;
        return refused ?? updatePayerLimits(tx, { id, ...wanted });
      });
      return isRefusal(changed) ? changed : answerWith(200, renderPayer(present(changed, 'payer')));
    },
  });
}

/** Declares the routes that create, list and revoke passes, and that set the payer's own limits. */
export function passRoutes(ctx: ApiContext): AnyRoute<PayerCaller>[] {
  return [listRoute(ctx), createRoute(ctx), revokeRoute(ctx), limitsRoute(ctx)];
}
