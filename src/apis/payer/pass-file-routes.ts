import { Readable } from 'node:stream';
import Type from 'typebox';
import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate.ts';
import type { PayerDeps } from '#apis/payer/deps.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { type AnyRoute, defineRoute, type Stream } from '#http/route.ts';
import type { ShownPass } from '#payers/pass-files.ts';
import { selectPass } from '#payers/payer-queries.ts';

const PKPASS = 'application/vnd.apple.pkpass';
const NAMELESS = 'Payment pass';

const shared = {
  method: 'GET',
  tag: 'Payer app',
  scope: null,
  idempotency: 'ignored',
  params: { id: 'pass' },
  errors: ['resource_missing', 'not_configured', 'unexpected_state'],
} as const;

function notConfigured(wallet: string): Refusal {
  return refuse('not_configured', `The operator of this network makes no passes for ${wallet}.`);
}

async function shownPass(
  deps: PayerDeps,
  caller: PayerCaller,
  id: string,
): Promise<ShownPass | Refusal> {
  const pass = await selectPass(deps.db, id);
  if (pass?.payer_id !== payerOfCaller(caller).id) return resourceMissing('pass');
  if (pass.revoked_at !== null) {
    return refuse('unexpected_state', 'This pass was revoked: it has no file any more.');
  }
  const name = pass.label || NAMELESS;
  return { id, name, walletUrl: `${deps.webUrl()}/wallet` };
}

function appleRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller>({
    ...shared,
    path: '/passes/{id}/apple',
    operationId: 'downloadApplePass',
    moves: 'nothing',
    summary: 'The pass as a file for Apple Wallet',
    description: 'Its name and a link to the wallet app, never a credential.',
    responses: { 200: { schema: null, contentTypes: [PKPASS], description: 'A .pkpass file.' } },
    handle: async ({ caller, params }) => {
      const pass = await shownPass(deps, caller, params.id ?? '');
      if (isRefusal(pass)) return pass;
      const make = deps.passFiles.apple;
      if (make === null) return notConfigured('Apple Wallet');
      const stream: Stream = {
        status: 200,
        stream: Readable.from([await make(pass)]),
        headers: {
          'Content-Type': PKPASS,
          'Content-Disposition': 'attachment; filename="tapline.pkpass"',
          'X-Content-Type-Options': 'nosniff',
        },
      };
      return stream;
    },
  });
}

const SaveLinkSchema = Type.Object(
  {
    url: Type.String({ description: 'Opens Google Wallet, which asks whether to keep the pass.' }),
  },
  { title: 'SaveLink', description: 'The link that saves a pass to Google Wallet.' },
);

function googleRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller>({
    ...shared,
    path: '/passes/{id}/google',
    operationId: 'createGooglePassLink',
    moves: 'nothing',
    summary: 'A link that adds the pass to Google Wallet',
    description: 'Its name and a link to the wallet app, never a credential.',
    responses: { 200: { schema: SaveLinkSchema, description: 'The link.' } },
    handle: async ({ caller, params, now }) => {
      const pass = await shownPass(deps, caller, params.id ?? '');
      if (isRefusal(pass)) return pass;
      const make = deps.passFiles.google;
      return make === null
        ? notConfigured('Google Wallet')
        : answerWith(200, { url: make(pass, now) });
    },
  });
}

/** Pass files of phones (behavior.md 12.11). */
export function passFileRoutes(deps: PayerDeps): AnyRoute<PayerCaller>[] {
  return [appleRoute(deps), googleRoute(deps)];
}
