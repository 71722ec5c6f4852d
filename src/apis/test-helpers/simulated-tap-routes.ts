import { randomBytes } from 'node:crypto';
import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { testHelperRoute } from '#apis/test-helpers/test-helper-route.ts';
import { answerWith, refuse, resourceMissing } from '#core/answer.ts';
import type { AnyRoute } from '#http/route.ts';
import { openCardKeys, tapUrl } from '#payers/card.ts';
import { countEmulatedTap, isTestCard } from '#payers/card-queries.ts';
import { codeOf, rotatingValue, stepAt, testRotatingKey } from '#payers/check-rotating-code.ts';
import { issuePhonePass } from '#payers/issue-phone-pass.ts';
import { selectPass } from '#payers/payer-queries.ts';
import { isTestPass, takePlayedSecond } from '#payers/phone-pass-queries.ts';
import {
  type PhoneKind,
  SMART_TAP_NONCE_BYTES,
  timeHead,
  writePhoneTap,
} from '#payers/phone-tap.ts';
import type { ApiContext } from '#payments/api-context.ts';

const PhoneTapSchema = Type.Object(
  {
    value: Type.String({ description: 'The value that the reader sends; valid for one attempt.' }),
  },
  { title: 'PhoneTap', description: 'The data that a phone with the pass sends to a reader now.' },
);

const PHONES = {
  smart_tap: { name: 'Google Wallet', by: 'Smart Tap', operationId: 'testSmartTap' },
  apple_vas: { name: 'Apple Wallet', by: 'VAS', operationId: 'testAppleVas' },
} as const satisfies Record<PhoneKind, object>;

function phoneTapRoute(ctx: ApiContext, kind: PhoneKind) {
  const { name, by, operationId } = PHONES[kind];
  return testHelperRoute({
    method: 'POST',
    path: `/test_helpers/passes/{id}/${kind}`,
    operationId,
    moves: 'data',
    summary: `Produce the tap of a phone with the pass in ${name}`,
    description:
      `Simulates a tap by ${by} of a pass of the test network. Send the value as a credential of ` +
      `type \`${kind}\`.`,
    params: { id: 'pass' },
    responses: {
      201: {
        schema: PhoneTapSchema,
        description: 'The tap.',
        example: { value: 'AWkmPgB0bGF2XzFMSXp0a2pZQjBSa1Q4aE1uQ1E' },
      },
    },
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ params, now }) => {
      const passId = params.id ?? '';
      const isKnown = await isTestPass(ctx.db, passId);
      const pass = isKnown ? await selectPass(ctx.db, passId) : undefined;
      if (pass === undefined) return resourceMissing('pass of the test network');
      if (pass.revoked_at !== null) {
        return refuse('unexpected_state', 'This pass was revoked, so no phone can present it.');
      }
      const made = { payerId: pass.payer_id, passId, kind, cardKey: ctx.keys.card, now };
      const { said, at } = await ctx.db.transaction(async (tx) => ({
        said: await issuePhonePass(tx, made),
        at: await takePlayedSecond(tx, made),
      }));
      const head = kind === 'smart_tap' ? randomBytes(SMART_TAP_NONCE_BYTES) : timeHead(at);
      return answerWith(201, { value: writePhoneTap(said, head) });
    },
  });
}

const RotatingCodeSchema = Type.Object(
  { value: Type.String({ description: 'The id of the pass, a period and the current code.' }) },
  { title: 'RotatingCode' },
);

function rotatingCodeRoute(ctx: ApiContext) {
  return testHelperRoute({
    method: 'POST',
    path: '/test_helpers/passes/{id}/rotating_code',
    operationId: 'testRotatingCode',
    moves: 'data',
    summary: 'Produce the current code of a pass',
    description:
      'Simulates the phone of a pass of the test network. The code changes every 30 seconds of ' +
      'real time, and each code pays once. Send the value as a credential of type ' +
      '`rotating_code`.',
    params: { id: 'pass' },
    responses: {
      201: {
        schema: RotatingCodeSchema,
        description: 'The code that the phone shows.',
        example: { value: 'pass_01QzXo0KcV5sVQ2pWm8Tn3.94287082' },
      },
    },
    errors: ['resource_missing'],
    handle: async ({ params, now }) => {
      const { db } = ctx;
      const cardKey = ctx.keys.card;
      const passId = params.id ?? '';
      const key = await db.transaction((tx) => testRotatingKey(tx, { passId, cardKey, now }));
      if (key === null) return resourceMissing('pass of the test network');
      return answerWith(201, { value: rotatingValue(passId, codeOf(key, stepAt(now))) });
    },
  });
}

const CardTapSchema = Type.Object(
  { url: Type.String({ description: 'The URL that the card produces; valid for one attempt.' }) },
  { title: 'CardTap' },
);

function cardTapRoute(ctx: ApiContext) {
  return testHelperRoute({
    method: 'POST',
    path: '/test_helpers/cards/{id}/taps',
    operationId: 'testTapCard',
    moves: 'data',
    summary: 'Produce the next tap of a SUN card',
    description:
      'Simulates the chip of a card of the test network, and counts its taps. Send the URL as a ' +
      'credential of type `nfc_sun`.',
    params: { id: 'card' },
    responses: {
      201: {
        schema: CardTapSchema,
        description: 'The URL.',
        example: {
          url:
            'https://pay.example.com/card/card_01QzXo0KcV5sVQ2pWm8Tn3' +
            '?p=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086',
        },
      },
    },
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ params }) => {
      const id = params.id ?? '';
      const card = await ctx.db.transaction((tx) => countEmulatedTap(tx, id));
      if (card !== undefined) {
        const keys = openCardKeys(ctx.keys.card, card);
        return answerWith(201, {
          url: tapUrl(ctx.pages.webUrl(), card, { keys, counter: card.emulated }),
        });
      }
      if (!(await isTestCard(ctx.db, id))) return resourceMissing('card of the test network');
      return refuse(
        'unexpected_state',
        'The tap counter of this card is exhausted. Create another card.',
      );
    },
  });
}

/** Returns the routes that simulate cards and phones, for developers who have none at hand. */
export function simulatedTapRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [
    cardTapRoute(ctx),
    rotatingCodeRoute(ctx),
    phoneTapRoute(ctx, 'smart_tap'),
    phoneTapRoute(ctx, 'apple_vas'),
  ];
}
