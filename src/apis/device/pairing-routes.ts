import Type from 'typebox';
import { answerWith, isRefusal } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { CURRENT_API_VERSION } from '#events/append.ts';
import { defineRoute, type Surface } from '#http/route.ts';
import { idOf } from '#http/schema.ts';
import { redeemPairingCode } from '#terminals/pairing.ts';

/** A device that has no key yet: known by its address only. */
interface Stranger {
  readonly tenant: Tenant;
  readonly address: string;
  readonly rateKey: string;
  readonly idempotencySpace: string;
  readonly scopes: null;
  readonly apiVersion: string;
}

const NOBODY: Tenant = { accountId: '', livemode: false };

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

function pairRoute(deps: { readonly db: Database }) {
  return defineRoute<Stranger, undefined, typeof PairBody>({
    method: 'POST',
    path: '',
    operationId: 'pairDevice',
    tag: 'Terminal protocol',
    summary: 'Exchange a pairing code for a device key',
    description: 'Without authentication. Works once per code; earlier keys of the terminal end.',
    scope: null,
    // A stored response would keep the key, which is kept as a hash only.
    idempotency: 'ignored',
    body: PairBody,
    bodyExample: { code: '7KMP-3XWR' },
    responses: { 201: { schema: PairedSchema, description: 'The key and its terminal.' } },
    errors: ['rate_limit_exceeded'],
    handle: async ({ caller, body, now }) => {
      const { address } = caller;
      const paired = await redeemPairingCode(deps.db, { code: body.code, address, now });
      if (isRefusal(paired)) return paired;
      const { terminalId, deviceKey } = paired;
      return answerWith(201, { terminal: terminalId, device_key: deviceKey });
    },
  });
}

/** The one call that a device makes before it has a key: `POST /api/device/v1/pair`. */
export function pairingSurface(deps: { readonly db: Database }): Surface<Stranger> {
  return {
    root: '/api/device/v1/pair',
    authenticate: async ({ address }) => ({
      tenant: NOBODY,
      address,
      rateKey: `address ${address}`,
      idempotencySpace: '',
      scopes: null,
      apiVersion: CURRENT_API_VERSION,
    }),
    routes: [pairRoute(deps)],
  };
}
