import { Readable } from 'node:stream';
import Type from 'typebox';
import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate.ts';
import type { PayerDeps } from '#apis/payer/deps.ts';
import { consentRefusal } from '#apis/payer/wallet-consent.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { type AnyRoute, defineRoute, type Handled, type Stream } from '#http/route.ts';
import type { ShownPass } from '#payers/pass-files.ts';
import { selectPass } from '#payers/payer-queries.ts';
import { issuePhonePass } from '#payers/phone-pass.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';

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
  request: Pick<Handled<PayerCaller, unknown, unknown>, 'caller' | 'params' | 'now'>,
  kind: PhoneKind | null,
): Promise<ShownPass | Refusal> {
  const { params, now } = request;
  const { id = '' } = params;
  const { db, cardKey } = deps;
  const payerId = payerOfCaller(request.caller).id;
  const pass = await selectPass(db, id);
  if (pass?.payer_id !== payerId) return resourceMissing('pass');
  if (pass.revoked_at !== null) {
    return refuse('unexpected_state', 'This pass was revoked: it has no file any more.');
  }
  // Without a value for readers it is a picture; with one, the phone that has it pays.
  const refused = kind === null ? null : consentRefusal(request.caller, now);
  if (refused !== null) return refused;
  const name = pass.label || NAMELESS;
  const made = kind === null ? null : { payerId, passId: id, kind, cardKey, now };
  const readerValue = made && (await db.transaction((tx) => issuePhonePass(tx, made)));
  return { id, name, walletUrl: `${deps.webUrl()}/wallet`, readerValue };
}

function appleRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller>({
    ...shared,
    path: '/passes/{id}/apple',
    operationId: 'downloadApplePass',
    moves: 'money',
    asks: 'own',
    summary: 'The pass as a file for Apple Wallet',
    description:
      'Its name and a link to the wallet app. Where Apple lets the operator make passes for ' +
      'readers, also what the phone gives a reader: a value of its own, which needs a signature ' +
      'of the wallet, at most five minutes old.',
    responses: { 200: { schema: null, contentTypes: [PKPASS], description: 'A .pkpass file.' } },
    handle: async (request) => {
      const { apple: make, appleAtReaders } = deps.passFiles;
      const kind = make !== null && appleAtReaders ? 'apple_vas' : null;
      const pass = await shownPass(deps, request, kind);
      if (isRefusal(pass)) return pass;
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
    moves: 'money',
    asks: 'own',
    summary: 'A link that adds the pass to Google Wallet',
    description:
      'Its name, a link to the wallet app, and what the phone gives a reader by Smart Tap: a ' +
      'value of its own. Who has the link can put the pass into a phone, so it needs a signature ' +
      'of the wallet, at most five minutes old.',
    responses: { 200: { schema: SaveLinkSchema, description: 'The link.' } },
    handle: async (request) => {
      const { google: make } = deps.passFiles;
      const pass = await shownPass(deps, request, make === null ? null : 'smart_tap');
      if (isRefusal(pass)) return pass;
      return make === null
        ? notConfigured('Google Wallet')
        : answerWith(200, { url: make(pass, request.now) });
    },
  });
}

/** Pass files of phones (behavior.md 12.11). */
export function passFileRoutes(deps: PayerDeps): AnyRoute<PayerCaller>[] {
  return [appleRoute(deps), googleRoute(deps)];
}
