import { randomBytes } from 'node:crypto';
import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { testHelperRoute } from '#apis/test-helpers/test-helper-route.ts';
import { answerWith, refuse, resourceMissing } from '#core/answer.ts';
import type { AnyRoute } from '#http/route.ts';
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

/** Returns the routes that simulate phone taps, for developers without a phone. */
export function phoneTapRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [phoneTapRoute(ctx, 'smart_tap'), phoneTapRoute(ctx, 'apple_vas')];
}
