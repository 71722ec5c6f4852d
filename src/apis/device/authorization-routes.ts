import Type from 'typebox';
import { getAddress } from 'viem';
import { terminalInactive } from '#accounts/recheck-credentials.ts';
import {
  DEVICE_INTENT_EXAMPLE,
  DeviceIntentSchema,
  showOnTerminal,
} from '#apis/device/device-intent.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import {
  AUTHORIZATION_ERRORS,
  AuthorizationBody,
  PayLinkQuery,
  PayLinkSchema,
} from '#apis/pay/pay-schema.ts';
import { renderLink } from '#apis/pay/render-link.ts';
import { answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { numberOfId } from '#core/ids.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { authorizeLink } from '#payments/authorize-link.ts';
import { type PayLink, readPayLink } from '#payments/pay-link.ts';
import { openLink } from '#payments/pay-terms.ts';
import { readPayerAccount } from '#settlement/chain/read/payer-balance.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { DeviceCaller } from '#terminals/authenticate-terminal.ts';

/** Finds an intent of this terminal, with the data that the chip `address` would sign. */
async function findOwn(
  ctx: ApiContext,
  caller: DeviceCaller,
  filter: { readonly id: string; readonly address: Hex },
): Promise<PayLink | Refusal> {
  const { livemode, accountId } = caller.tenant;
  const number = numberOfId(ctx.keys.id, 'paymentIntent', { livemode, id: filter.id });
  const chain = ctx.chains.find(({ config }) => config.livemode === livemode);
  const link =
    number === null || chain === undefined
      ? null
      : await readPayLink(ctx, { number, chain, address: filter.address, bindsOrder: true });
  const isOwn =
    link !== null &&
    link.intent.terminal_id === caller.terminalId &&
    link.intent.account_id === accountId;
  // Keeps the caller's merchant with the hash of the device key, so that the payment is refused if
  // the key is revoked first. Takes only the merchant number from the link.
  if (!isOwn) return resourceMissing('payment intent');
  const { merchantNumber } = link.merchant;
  return { ...link, merchant: { ...caller.merchant, merchantNumber } };
}

const ToSignQuery = Type.Object({
  from: AuthorizationBody.properties.from,
  tip_amount: PayLinkQuery.properties.tip_amount,
});

const ToSignSchema = Type.Object(
  {
    ...PayLinkSchema.properties,
    balance: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description:
        'The balance of the address in USDC atoms, so that a till can say why an empty card does ' +
        'not pay. `null` if the chain did not respond.',
    }),
  },
  { title: 'ChipAuthorization', description: 'The data that a chip signs, and its balance.' },
);

/**
 * Returns the chip's balance in atoms. Only the till that reads the chip gets it: no row, event or
 * response to the merchant contains it.
 */
async function balanceOf(
  ctx: ApiContext,
  { livemode, address }: { readonly livemode: boolean; readonly address: Hex },
): Promise<number | null> {
  const chain = ctx.chains.find(({ config }) => config.livemode === livemode);
  if (chain === undefined) return null;
  try {
    const { balance } = await readPayerAccount(chain, address);
    const most = BigInt(Number.MAX_SAFE_INTEGER);
    return Number(balance > most ? most : balance);
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}

function toSignRoute(ctx: ApiContext) {
  return deviceRoute<typeof ToSignQuery>({
    method: 'GET',
    path: '/payment_intents/{id}/authorization',
    operationId: 'retrieveChipAuthorization',
    moves: 'nothing',
    summary: 'Retrieve the data that a chip signs to pay an intent of this terminal',
    description:
      'For chips that sign payments themselves (HaLo, Burner, Keycard): `typed_data` for the ' +
      'address of the chip. `null` if the intent cannot be paid now.',
    params: { id: 'paymentIntent' },
    query: ToSignQuery,
    responses: { 200: { schema: ToSignSchema, description: 'The payment to sign.' } },
    errors: ['resource_missing', 'service_unavailable'],
    handle: async ({ caller, params, query }) => {
      const address = getAddress(query.from);
      const link = await findOwn(ctx, caller, { id: params.id ?? '', address });
      if (isRefusal(link)) return link;
      const [opened, balance] = await Promise.all([
        openLink(ctx, link, { address, tipAmount: query.tip_amount }),
        balanceOf(ctx, { livemode: caller.tenant.livemode, address }),
      ]);
      if (isRefusal(opened)) return opened;
      const shown = renderLink(opened.link, opened.terms, query.from);
      return answerWith(200, { ...shown, balance });
    },
  });
}

function handInRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof AuthorizationBody>({
    method: 'POST',
    path: '/payment_intents/{id}/authorization',
    operationId: 'authorizePaymentIntent',
    moves: 'money',
    checksCredential: true,
    summary: "Pay an intent of this terminal with a chip's signature",
    description:
      'Sending the same `from` and `signature` again returns the first response. Limit and ' +
      'block of a registered chip apply. The payer needs no gas.',
    // The signature serves as the key.
    idempotency: 'ignored',
    params: { id: 'paymentIntent' },
    body: AuthorizationBody,
    responses: {
      200: {
        schema: DeviceIntentSchema,
        description: 'The intent after the tap.',
        example: DEVICE_INTENT_EXAMPLE,
      },
    },
    errors: AUTHORIZATION_ERRORS,
    handle: async ({ caller, params, body, requestId, now, whenGone }) => {
      if (!caller.active) return terminalInactive();
      const { from, signature, tip_amount: tipAmount } = body;
      const address = getAddress(from);
      const link = await findOwn(ctx, caller, { id: params.id ?? '', address });
      if (isRefusal(link)) return link;
      const signed = { from, signature, by: 'chip', tipAmount, requestId, now } as const;
      return showOnTerminal(
        ctx.pages,
        await authorizeLink(ctx, link, { ...signed, gone: whenGone() }),
      );
    },
  });
}

/** Declares the routes for chips that sign payments at the till (behavior.md 19.9). */
export function chipAuthorizationRoutes(ctx: ApiContext) {
  return [toSignRoute(ctx), handInRoute(ctx)];
}
