import Type from 'typebox';
import { DeviceSchema, TERMINAL_EXAMPLE, TerminalSchema } from '#apis/merchant/terminal-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import type { Database } from '#db/database.ts';
import { defineRoute, type Surface } from '#http/route.ts';
import { idOf } from '#http/schema.ts';
import { type Visitor, visitor } from '#http/visitor.ts';
import { lookAtPairingCode, redeemPairingCode } from '#terminals/pairing-code.ts';
import { terminalObject } from '#terminals/render.ts';

const PairBody = Type.Object({
  code: Type.String({
    minLength: 8,
    maxLength: 20,
    description: 'The code that the dashboard shows, with or without its dash.',
  }),
});

const PairedSchema = Type.Object({
  terminal: idOf('tml_', 'terminal'),
  device_key: Type.String({ description: 'The device key (tldk_…). Shown only once.' }),
});

function pairRoute(ctx: { readonly db: Database }) {
  return defineRoute<Visitor, undefined, typeof PairBody>({
    method: 'POST',
    path: '',
    operationId: 'pairDevice',
    moves: 'access',
    asks: 'never',
    tag: 'Terminal protocol',
    summary: 'Exchange a pairing code for a device key',
    description: 'Without authentication. Works once per code; earlier keys of the terminal end.',
    scope: null,
    // The response must not be stored, because it contains the key, of which only the hash may be
    // stored.
    idempotency: 'ignored',
    body: PairBody,
    bodyExample: { code: '7KMP-3XWR' },
    responses: { 201: { schema: PairedSchema, description: 'The key and its terminal.' } },
    errors: ['rate_limit_exceeded'],
    handle: async ({ caller, body, now }) => {
      const { address } = caller;
      const paired = await redeemPairingCode(ctx.db, { code: body.code, address, now });
      if (isRefusal(paired)) return paired;
      const { terminalId, deviceKey } = paired;
      return answerWith(201, { terminal: terminalId, device_key: deviceKey });
    },
  });
}

const PairingTarget = Type.Object(
  {
    ...TerminalSchema.properties,
    merchant_name: DeviceSchema.properties.merchant_name,
    by_fresh_factor: Type.Boolean({
      description:
        'True if the code was created right after a second factor was verified. Only such a code ' +
        'unlocks a till with a forgotten PIN, or moves a live till to another terminal.',
    }),
  },
  { title: 'PairingTarget' },
);

function previewRoute(ctx: { readonly db: Database }) {
  return defineRoute<Visitor, undefined, typeof PairBody>({
    method: 'POST',
    path: '/preview',
    operationId: 'previewPairing',
    moves: 'nothing',
    tag: 'Terminal protocol',
    summary: 'Retrieve the terminal that a pairing code belongs to',
    description:
      'Without authentication. The code is not consumed. A paired device shows this ' +
      'before it becomes another terminal.',
    scope: null,
    idempotency: 'ignored',
    body: PairBody,
    bodyExample: { code: '7KMP-3XWR' },
    responses: {
      200: {
        schema: PairingTarget,
        description: 'The terminal, and how the code was created.',
        example: { ...TERMINAL_EXAMPLE, merchant_name: 'Blue Door Café', by_fresh_factor: false },
      },
    },
    errors: ['rate_limit_exceeded'],
    handle: async ({ caller, body, now }) => {
      const { address } = caller;
      const terminal = await lookAtPairingCode(ctx.db, { code: body.code, address, now });
      if (isRefusal(terminal)) return terminal;
      const { merchant_name, by_fresh_factor } = terminal;
      return answerWith(200, { ...terminalObject(terminal), merchant_name, by_fresh_factor });
    },
  });
}

/** Returns the API surface for devices without a key, below `/api/device/v1/pair`. */
export function pairingSurface(ctx: { readonly db: Database }): Surface<Visitor> {
  return {
    root: '/api/device/v1/pair',
    authenticate: async ({ address }) => visitor(address),
    routes: [pairRoute(ctx), previewRoute(ctx)],
  };
}
