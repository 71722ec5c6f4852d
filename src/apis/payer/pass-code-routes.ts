import { Secret } from 'otpauth';
import Type from 'typebox';
import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { Timestamp } from '#http/schema.ts';
import { CODE_DIGITS, createRotatingKey, STEP_MS } from '#payers/check-rotating-code.ts';
import { createPassCode } from '#payers/create-pass-code.ts';
import { PASS_COPIES } from '#payers/pass-copy-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';

const PassCodeSchema = Type.Object(
  {
    value: Type.String({ description: 'The text of the QR code (tlpc_…). Shown only once.' }),
    expires_at: Timestamp,
  },
  { title: 'PassCode', description: 'A code of the wallet app, for the reader of a terminal.' },
);

function createRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'POST',
    path: '/passes/{id}/codes',
    operationId: 'createPassCode',
    moves: 'money',
    // Requires no fresh signature: the code pays once, within a minute and the payer's limits.
    asks: 'never',
    summary: 'Create a one-time code of a pass, valid for a minute',
    description:
      'For the QR code of the wallet app; the terminal sends it as a credential of type `qr`. It ' +
      'is consumed by the attempt that presents it.',
    params: { id: 'pass' },
    responses: { 201: { schema: PassCodeSchema, description: 'The code.' } },
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ caller, params, now }) => {
      const { id: payerId } = payerOfCaller(caller);
      const made = { payerId, passId: params.id ?? '', now };
      const code = await ctx.db.transaction((tx) => createPassCode(tx, made));
      if (isRefusal(code)) return code;
      return answerWith(201, { value: code.secret, expires_at: code.expiresAt.toISOString() });
    },
  });
}

const RotatingKeySchema = Type.Object(
  {
    pass: Type.String({ description: 'The id of the pass, which precedes each code.' }),
    key: Type.String({ description: 'Base32. Shown only once.' }),
    algorithm: Type.Literal('SHA1', { description: 'The hash function of the HMAC.' }),
    digits: Type.Literal(CODE_DIGITS, { description: 'Digits of each code.' }),
    period: Type.Literal(STEP_MS / 1000, { description: 'Seconds for which each code is shown.' }),
  },
  {
    title: 'RotatingKey',
    description: 'The parameters from which a pass computes its codes (RFC 6238).',
  },
);

function createKeyRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'POST',
    path: '/passes/{id}/rotating_key',
    operationId: 'createRotatingKey',
    moves: 'money',
    summary: 'Create a key for codes of a pass that change every half minute',
    description:
      'A phone without a network shows `<pass>.<code>`; the terminal sends it as a credential of ' +
      'type `rotating_code`. Each code pays once. Codes of an earlier key become invalid at once.',
    params: { id: 'pass' },
    responses: { 201: { schema: RotatingKeySchema, description: 'The key.' } },
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ caller, params, now }) => {
      const { id: payerId } = payerOfCaller(caller);
      const passId = params.id ?? '';
      const made = { payerId, passId, cardKey: ctx.keys.card, now };
      const key = await ctx.db.transaction((tx) => createRotatingKey(tx, made));
      if (isRefusal(key)) return key;
      ctx.wakeups.send(PASS_COPIES);
      const { base32 } = new Secret({ buffer: Uint8Array.from(key).buffer });
      const shape = { algorithm: 'SHA1', digits: CODE_DIGITS, period: STEP_MS / 1000 };
      return answerWith(201, { pass: passId, key: base32, ...shape });
    },
  });
}

/**
 * Declares the routes that create one-minute codes, and keys for rotating codes (behavior.md 12.9,
 * 12.14).
 */
export function passCodeRoutes(ctx: ApiContext): PayerRoute[] {
  return [createRoute(ctx), createKeyRoute(ctx)];
}
