import Type from 'typebox';
import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate.ts';
import type { PayerDeps } from '#apis/payer/deps.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { Timestamp } from '#http/schema.ts';
import { createPassCode } from '#payers/create-pass-code.ts';

const PassCodeSchema = Type.Object(
  {
    value: Type.String({ description: 'What the QR code says (tlpc_…). Shown only once.' }),
    expires_at: Timestamp,
  },
  { title: 'PassCode', description: 'A code of the wallet app, for the reader of a terminal.' },
);

function createRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller>({
    method: 'POST',
    path: '/passes/{id}/codes',
    operationId: 'createPassCode',
    moves: 'money',
    tag: 'Payer app',
    summary: 'A code of a pass that pays once, within a minute',
    description:
      'For the QR code of the wallet app; the terminal sends it as a credential of type `qr`. It ' +
      'is used up by the attempt that presents it.',
    scope: null,
    // A stored response would keep the code, which is kept as a hash only.
    idempotency: 'ignored',
    params: { id: 'pass' },
    responses: { 201: { schema: PassCodeSchema, description: 'The code.' } },
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ caller, params, now }) => {
      const { id: payerId } = payerOfCaller(caller);
      const made = { payerId, passId: params.id ?? '', now };
      const code = await deps.db.transaction((tx) => createPassCode(tx, made));
      if (isRefusal(code)) return code;
      return answerWith(201, { value: code.secret, expires_at: code.expiresAt.toISOString() });
    },
  });
}

/** One-minute codes (behavior.md 12.9). */
export function passCodeRoutes(deps: PayerDeps): AnyRoute<PayerCaller>[] {
  return [createRoute(deps)];
}
