import { randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { LocalAccount } from 'viem/accounts';
import { MAX_MINOR_UNITS } from '#apis/merchant/line-schema.ts';
import { OfflineRecordSchema } from '#apis/merchant/offline-schema.ts';
import { testHelperRoute } from '#apis/test-helpers/test-helper-route.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { chargesOf } from '#core/charges.ts';
import { toAtomsUp } from '#core/currency-conversion.ts';
import { DAY_MS, SECOND_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import { readDate } from '#http/cursors.ts';
import { Amount } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { serviceUnavailable } from '#payments/ask-chain-before-locking.ts';
import { readPresentmentTerms } from '#payments/offline/presentment-terms.ts';
import { type OfflineRates, readOfflineRates } from '#payments/offline/signed-sale.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { offlineMessage, offlineNonce } from '#settlement/chain/check/offline-authorization.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { limitsObject } from '#terminals/offline-limits.ts';
import { selectTerminal, type TerminalRow } from '#terminals/terminal-queries.ts';

const HelperBody = Type.Object({
  amount: Type.Optional({
    ...Amount,
    description: 'USDC atoms, 1 to 1000000000000. Required without `presentment_amount`.',
  }),
  presentment_amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_MINOR_UNITS,
      description: 'The price in minor units of the shop’s currency, at the terminal’s terms.',
    }),
  ),
  pass: Type.Optional(
    Type.String({
      pattern: '^[0-9A-Za-z_]{1,200}$',
      description: 'A demo pass, by its name in sandbox.json or its credential. Default `ok`.',
    }),
  ),
  accepted_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the till accepted the sale. Default: now.',
    }),
  ),
});

interface Price {
  readonly amount: bigint;
  /** The record's field; empty for a sale in USDC. */
  readonly presentment: { readonly presentment?: { readonly terms: string; amount: number } };
}

/** Returns the price of the sale: the sum in atoms, or what the till's terms give. */
async function priceOf(
  ctx: ApiContext,
  terminal: TerminalRow,
  {
    body: { amount, presentment_amount: units },
    tenant,
    now,
  }: { readonly body: Static<typeof HelperBody>; readonly tenant: Tenant; readonly now: Date },
): Promise<Price | Refusal> {
  if ((amount === undefined) === (units === undefined)) {
    return refuse('parameter_invalid', 'Send amount or presentment_amount, not both.', 'amount');
  }
  if (units === undefined) return { amount: BigInt(amount ?? 0), presentment: {} };
  const limits = limitsObject(terminal.offline);
  const till = { tenant, terminalId: terminal.id };
  const terms = limits && (await readPresentmentTerms(ctx, till, { ...limits, now }));
  if (terms === null) {
    return refuse('rates_unavailable', 'The terminal has no offline terms in a shop’s currency.');
  }
  const worth = toAtomsUp(BigInt(units), terms);
  if (worth > MAX_AMOUNT) {
    const param = 'presentment_amount';
    return refuse('parameter_invalid', `${param} is worth ${worth} USDC atoms.`, param);
  }
  return { amount: worth, presentment: { presentment: { terms: terms.id, amount: units } } };
}

function signerOf({ demo }: ApiContext, pass: string | undefined): LocalAccount | Refusal {
  const signer = demo.signerOf?.(pass ?? 'ok') ?? null;
  if (signer !== null) return signer;
  return refuse('parameter_invalid', 'pass must be a demo pass of the test network.', 'pass');
}

/**
 * Returns the expiry of a simulated signature: a till's default, or earlier if an announced change
 * of fee rates may apply before.
 */
function validBefore({ ratesUntil }: OfflineRates, now: Date): number {
  const day = now.getTime() + DAY_MS;
  return Math.floor(Math.min(day, ratesUntil?.getTime() ?? day) / SECOND_MS);
}

/** Signs a sale like a wallet at an offline till. */
async function signSale(
  chain: Chain,
  signer: LocalAccount,
  sale: {
    readonly merchantNumber: bigint;
    readonly amount: bigint;
    readonly terms: OfflineRates;
    readonly now: Date;
  },
) {
  const { merchantNumber, amount, terms, now } = sale;
  const salt: Hex = `0x${randomBytes(32).toString('hex')}`;
  const signed = {
    from: signer.address,
    value: chargesOf(amount, terms.rates).pulled,
    validAfter: 0n,
    validBefore: BigInt(validBefore(terms, now)),
    nonce: offlineNonce({ merchantNumber, amount, salt }),
  };
  const message = offlineMessage(chain.config, merchantNumber, signed);
  return {
    authorization: {
      from: signed.from,
      value: Number(signed.value),
      valid_after: 0,
      valid_before: Number(signed.validBefore),
      nonce: signed.nonce,
      signature: await signer.signTypedData(message),
    },
    amount: Number(amount),
    salt,
  };
}

/** Returns the route that simulates customers who sign sales at offline terminals. */
export function offlinePaymentRoute(ctx: ApiContext) {
  return testHelperRoute<typeof HelperBody>({
    method: 'POST',
    path: '/test_helpers/terminals/{id}/offline_payment',
    operationId: 'testOfflinePayment',
    moves: 'data',
    summary: 'Sign a sale as a customer does at an offline terminal',
    description:
      'Returns the record that the terminal would keep. Forward it with ' +
      '`POST /api/device/v1/offline_payments`; until then nothing has happened. It is valid for ' +
      'a day, whatever `accepted_at` says.',
    params: { id: 'terminal' },
    body: HelperBody,
    bodyExample: { amount: 2500000 },
    responses: { 201: { schema: OfflineRecordSchema, description: 'The record.' } },
    errors: ['resource_missing', 'account_not_live', 'service_unavailable', 'rates_unavailable'],
    handle: async ({ caller, params, body, now }) => {
      const { tenant, merchant } = caller;
      const terminal = await selectTerminal(ctx.db, tenant, params.id ?? '');
      if (terminal === null) return resourceMissing('terminal');
      const acceptedAt = readDate(body.accepted_at, 'accepted_at');
      if (isRefusal(acceptedAt)) return acceptedAt;
      const signer = signerOf(ctx, body.pass);
      if (isRefusal(signer)) return signer;
      const price = await priceOf(ctx, terminal, { body, tenant, now });
      if (isRefusal(price)) return price;
      const chain = ctx.chains.find(({ config }) => config.livemode === tenant.livemode);
      const { merchantNumber } = merchant;
      if (merchantNumber === null) {
        return refuse(
          'account_not_live',
          'The account is not registered on the test network yet. Go live in test mode first.',
        );
      }
      if (chain === undefined) return serviceUnavailable();
      try {
        const terms = await readOfflineRates(ctx.db, chain, merchantNumber);
        const sale = { merchantNumber, amount: price.amount, terms, now };
        const record = await signSale(chain, signer, sale);
        return answerWith(201, {
          ...record,
          ...price.presentment,
          accepted_at: (acceptedAt ?? now).toISOString(),
        });
      } catch (error) {
        if (error instanceof RpcUnavailable) return serviceUnavailable();
        throw error;
      }
    },
  });
}
