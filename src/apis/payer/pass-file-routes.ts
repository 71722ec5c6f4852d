import { Readable } from 'node:stream';
import Type from 'typebox';
import { appleUpdates, PKPASS } from '#apis/payer/apple-pass-service.ts';
import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { consentRefusal } from '#apis/payer/require-fresh-signature.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Handled, Stream } from '#http/route.ts';
import { ensureRotatingKey } from '#payers/check-rotating-code.ts';
import { issuePhonePass } from '#payers/issue-phone-pass.ts';
import {
  insertPassCopy,
  noteCopiesChanged,
  PASS_COPIES,
  type PassWallet,
} from '#payers/pass-copy-queries.ts';
import type { ShownPass } from '#payers/pass-files.ts';
import { lockPayer, selectPass } from '#payers/payer-queries.ts';
import { READER_KINDS, readShownPass } from '#payers/shown-pass.ts';
import type { ApiContext } from '#payments/api-context.ts';

const WALLET_NAMES = { apple: 'Apple Wallet', google: 'Google Wallet' } as const;

const shared = {
  method: 'GET',
  params: { id: 'pass' },
  errors: ['resource_missing', 'not_configured', 'unexpected_state'],
} as const;

function notConfigured(wallet: string): Refusal {
  return refuse(
    'not_configured',
    `The operator of this network does not issue passes for ${wallet}.`,
  );
}

async function issue(
  ctx: ApiContext,
  request: Pick<Handled<PayerCaller, unknown, unknown>, 'caller' | 'params' | 'now'>,
  wallet: PassWallet,
): Promise<ShownPass | Refusal> {
  const { params, now } = request;
  const { id: passId = '' } = params;
  const {
    db,
    keys: { card: cardKey },
    outside: { passFiles },
  } = ctx;
  const payerId = payerOfCaller(request.caller).id;
  const known = await selectPass(db, passId);
  if (known?.payer_id !== payerId) return resourceMissing('pass');
  if (known.revoked_at !== null) {
    return refuse('unexpected_state', 'This pass was revoked, so its file is no longer available.');
  }
  if (passFiles[wallet] === null) return notConfigured(WALLET_NAMES[wallet]);
  // Without a value for readers, the pass is only a picture. With one, whoever holds the phone can
  // pay.
  const pays = wallet === 'google' || passFiles.apple?.atReaders === true;
  const refused = pays ? consentRefusal(request.caller, now) : null;
  if (refused !== null) return refused;
  const walletUrl = `${ctx.pages.webUrl()}/wallet`;
  const shown = await db.transaction(async (tx) => {
    await lockPayer(tx, payerId);
    await insertPassCopy(tx, { passId, wallet }, now);
    const made = { payerId, passId, kind: READER_KINDS[wallet], cardKey, now };
    if (pays) await issuePhonePass(tx, made);
    if (wallet === 'google') {
      await ensureRotatingKey(tx, made);
      await noteCopiesChanged(tx, { passId, wallets: ['google'], now });
    }
    return present(await readShownPass(tx, { passId, wallet, cardKey, walletUrl }), 'copy');
  });
  ctx.wakeups.send(PASS_COPIES);
  return shown.pass;
}

function appleRoute(ctx: ApiContext) {
  return payerRoute({
    ...shared,
    path: '/passes/{id}/apple',
    operationId: 'downloadApplePass',
    moves: 'money',
    asks: 'own',
    summary: 'Download the pass as a file for Apple Wallet',
    description:
      'Its name and a link to the wallet app. If Apple allows the operator to issue passes for ' +
      'readers, also the value that the phone sends to a reader, which needs a signature ' +
      'of the wallet, at most five minutes old.',
    responses: { 200: { schema: null, contentTypes: [PKPASS], description: 'A .pkpass file.' } },
    handle: async (request) => {
      const pass = await issue(ctx, request, 'apple');
      if (isRefusal(pass)) return pass;
      const apple = present(ctx.outside.passFiles.apple, 'Apple Wallet');
      const updates = appleUpdates(ctx.pages, pass.id);
      const stream: Stream = {
        status: 200,
        stream: Readable.from([await apple.make(pass, updates)]),
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
    url: Type.String({ description: 'Opens Google Wallet, which offers to save the pass.' }),
  },
  { title: 'SaveLink', description: 'The link that saves a pass to Google Wallet.' },
);

function googleRoute(ctx: ApiContext) {
  return payerRoute({
    ...shared,
    path: '/passes/{id}/google',
    operationId: 'createGooglePassLink',
    moves: 'money',
    asks: 'own',
    summary: 'Create a link that adds the pass to Google Wallet',
    description:
      'Its name, a link to the wallet app, and the value that the phone sends to a reader by ' +
      'Smart Tap. Google also gets the key of the codes that the pass shows, and every change: a ' +
      'new key, a new value, the end of the pass. Anyone with the link can put the pass into a ' +
      'phone, so it needs a signature of the wallet, at most five minutes old.',
    responses: { 200: { schema: SaveLinkSchema, description: 'The link.' } },
    handle: async (request) => {
      const pass = await issue(ctx, request, 'google');
      if (isRefusal(pass)) return pass;
      const google = present(ctx.outside.passFiles.google, 'Google Wallet');
      return answerWith(200, { url: google.link(pass, request.now) });
    },
  });
}

/** Declares the routes that add passes to phone wallets (behavior.md 12.11). */
export function passFileRoutes(ctx: ApiContext): PayerRoute[] {
  return [appleRoute(ctx), googleRoute(ctx)];
}
