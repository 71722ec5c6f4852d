import Type, { type Static } from 'typebox';
import { getAddress } from 'viem';
import { askedLines, lineFields, MAX_MINOR_UNITS } from '#apis/merchant/line-schema.ts';
import { PresentmentCurrency, RateText } from '#apis/merchant/presentment-schema.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import {
  Amount,
  AtomsOut,
  commonFields,
  idOf,
  listOf,
  nullable,
  oneOf,
  Timestamp,
  text,
} from '#http/schema.ts';
import type { OfflineRecord } from '#payments/offline/forward-offline.ts';
import { BOUNCE_REASONS, OFFLINE_STATUSES } from '#payments/offline/offline-states.ts';
import { PRESENTMENT_PROBLEMS } from '#payments/offline/presentment-terms.ts';
import { normalSignature } from '#settlement/chain/check/verify-signature.ts';
import type { Hex } from '#settlement/chain-requests.ts';

const hex = (digits: number, description: string) =>
  Type.String({ pattern: `^0x[0-9a-fA-F]{${digits}}$`, description });

const Seconds = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });

const Authorization = Type.Object(
  {
    from: hex(40, 'The wallet.'),
    value: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'USDC atoms: the amount, and acquirer and protocol fee less cashback at the rates of ' +
        '`offline_terms`, each rounded down.',
    }),
    valid_after: Seconds('Unix seconds, usually 0.'),
    valid_before: Seconds(
      'Unix seconds: at most 72 hours ahead, and not later than `rates_until`.',
    ),
    nonce: hex(
      64,
      'The contract’s `authorizationNonce(merchant_number, amount, 0, 0x0000000000000000, salt)`.',
    ),
    signature: hex(
      130,
      '65 bytes, by the key of the wallet. Contract wallets do not sign offline.',
    ),
  },
  {
    additionalProperties: false,
    description: 'The EIP-3009 `ReceiveWithAuthorization` to the settlement contract.',
  },
);

export const OfflineRecordSchema = Type.Object(
  {
    authorization: Authorization,
    amount: Amount,
    salt: hex(64, 'Drawn by the till for this sale alone.'),
    accepted_at: {
      ...Timestamp,
      description:
        'When the till accepted it, by its clock. It is never refused for being early or late; ' +
        'for the day of `per_card_per_day` it counts as at most 72 hours before its arrival, and ' +
        '5 minutes after.',
    },
    description: Type.Optional(text(500, 'Up to 500 characters.')),
    ...lineFields,
    cashier: Type.Optional(
      nullable(
        text(
          255,
          'The person who was signed in at the till. An id that the account does not know is ' +
            'stored as null.',
        ),
      ),
    ),
    presentment: Type.Optional(
      nullable(
        Type.Object(
          {
            terms: text(200, 'The `id` of the terms: `offline_terms.presentment`.'),
            amount: Type.Integer({
              minimum: 1,
              maximum: MAX_MINOR_UNITS,
              description: 'The price in minor units. `amount` is rate × this, rounded up.',
            }),
          },
          {
            additionalProperties: false,
            description:
              'The price in the shop’s currency. If the terms are unknown or have ended, the ' +
              'sale is taken in USDC, and `presentment_problem` says so.',
          },
        ),
      ),
    ),
    replaces: Type.Optional(
      nullable(
        text(
          255,
          'The payment intent that the terminal canceled for this sale, so that one cart is not ' +
            'paid twice. If it was paid, the record bounces as `already_paid`. If it is still ' +
            'open, it is canceled together with this sale. An id that the account does not know ' +
            'is ignored.',
        ),
      ),
    ),
  },
  {
    title: 'OfflineRecord',
    additionalProperties: false,
    description: 'A sale that a till has accepted offline.',
  },
);

const MAX_RECORDS = 100;

export const ForwardBody = Type.Object({
  payments: Type.Array(OfflineRecordSchema, {
    minItems: 1,
    maxItems: MAX_RECORDS,
    description: `The sales, 1 to ${MAX_RECORDS}. They are decided in this order.`,
  }),
});

type Forwarded = Static<typeof ForwardBody>['payments'];

/** Years that ISO 8601 writes with four digits. The database cannot return times in other years. */
const [FIRST_YEAR, LAST_YEAR] = [1, 9_999];

function isWritable(time: Date): boolean {
  // The year of an invalid time is NaN, which fails both comparisons.
  return time.getUTCFullYear() >= FIRST_YEAR && time.getUTCFullYear() <= LAST_YEAR;
}

/** Refuses invalid times. */
export function recordsOf(payments: Forwarded): readonly OfflineRecord[] | Refusal {
  const records: OfflineRecord[] = [];
  for (const [index, one] of payments.entries()) {
    const {
      authorization: signed,
      cashier = null,
      description = null,
      presentment = null,
      replaces = null,
    } = one;
    const acceptedAt = new Date(one.accepted_at);
    if (!isWritable(acceptedAt)) {
      const param = `payments[${index}].accepted_at`;
      return refuse('parameter_invalid', `${param} must be an ISO 8601 date and time.`, param);
    }
    const lines = askedLines(one);
    if (isRefusal(lines)) return { ...lines, param: `payments[${index}].${lines.param}` };
    records.push({
      authorization: {
        from: getAddress(signed.from),
        value: BigInt(signed.value),
        validAfter: BigInt(signed.valid_after),
        validBefore: BigInt(signed.valid_before),
        nonce: signed.nonce.toLowerCase() as Hex,
        signature: normalSignature(signed.signature as Hex),
      },
      amount: BigInt(one.amount),
      salt: one.salt.toLowerCase() as Hex,
      acceptedAt,
      description,
      lines,
      cashier,
      presentment,
      replaces,
    });
  }
  return records;
}

const Margin = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000, description: `${description}: basis points.` });

export const OfflinePaymentSchema = Type.Object(
  {
    id: idOf('ofp_', 'offline payment'),
    ...commonFields('offline_payment'),
    status: oneOf(OFFLINE_STATUSES, 'processing: the chain has not decided. The list may grow.'),
    bounce_reason: nullable(
      oneOf(BOUNCE_REASONS, 'Why it was not paid; `null` unless bounced. The list may grow.'),
    ),
    payment_intent: nullable(idOf('pi_', 'payment intent')),
    payment: nullable(idOf('pay_', 'payment')),
    nonce: Type.String({
      pattern: '^0x[0-9a-f]{64}$',
      description: 'The nonce of the authorization. With network and wallet it is the identity.',
    }),
    terminal: idOf('tml_', 'terminal'),
    amount: Amount,
    presentment: nullable(
      Type.Object(
        {
          currency: PresentmentCurrency,
          amount: Type.Integer({ minimum: 1, description: 'Minor units of the currency.' }),
          rate: RateText,
          margin: Margin('The margin in the rate, in the shop’s favor'),
          quoted_at: { ...Timestamp, description: 'The time of the rate.' },
        },
        { description: 'The price in the shop’s currency; `null` for a sale in USDC.' },
      ),
    ),
    presentment_problem: nullable(
      oneOf(
        PRESENTMENT_PROBLEMS,
        'Why the sale was taken in USDC although the record gave a price: the service has not ' +
          'issued these terms to the account, or they ended more than 72 hours before the ' +
          'signature ends. `null` for all other sales.',
      ),
    ),
    accepted_at: { ...Timestamp, description: 'When the till accepted it, by its clock.' },
    created: { ...Timestamp, description: 'When it was forwarded.' },
  },
  {
    title: 'OfflinePayment',
    description: 'A sale that a till accepted offline, and its result.',
  },
);
export const OfflinePaymentList = listOf(OfflinePaymentSchema);

const OfflineProblem = Type.Object(
  {
    object: Type.Literal('error', {
      description: 'The record does not verify, or cannot be decided yet.',
    }),
    code: oneOf(
      ['signature_invalid', 'parameter_invalid', 'payment_intent_unexpected_state'] as const,
      'signature_invalid: the wallet did not sign these fields. parameter_invalid: the nonce, or ' +
        '`presentment.amount`. ' +
        'payment_intent_unexpected_state: the intent that it replaces is still `processing`. ' +
        'Send the record again until that intent has ended.',
    ),
    message: Type.String({ description: 'The reason in words. Its text may change.' }),
    nonce: OfflinePaymentSchema.properties.nonce,
  },
  {
    title: 'OfflineProblem',
    description: 'A record that was not taken. It holds nothing, and takes no nonce.',
  },
);

export const ForwardedList = Type.Object(
  {
    object: Type.Literal('list', { description: 'The type of the object.' }),
    data: Type.Array(Type.Union([OfflinePaymentSchema, OfflineProblem]), {
      description: 'One element for each record, in the order of the request.',
    }),
  },
  { title: 'ForwardedList', description: 'The result of each sale.' },
);

export const OFFLINE_PAYMENT_EXAMPLE = {
  id: 'ofp_01QzXo2VbN4hWq8sJt6Yd1',
  object: 'offline_payment',
  livemode: false,
  network: 'testnet',
  status: 'succeeded',
  bounce_reason: null,
  payment_intent: 'pi_01QzXo0KcV5sVQ2pWm8Tn3',
  payment: 'pay_01QzXo1SdW6tWR3qXn9Uo4',
  nonce: '0x5b1f0c7e2a9d4863b7c0e1f2a3948576c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0',
  terminal: 'tml_01QzXnyWbB0mJr6vGq2Lk9',
  amount: 2500000,
  presentment: null,
  presentment_problem: null,
  accepted_at: '2026-10-01T11:20:00.000Z',
  created: '2026-10-01T12:00:00.000Z',
} as const;

const limit = (description: string, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum: 1, maximum, description });

const SUM_LIMITS = {
  per_payment: 'The highest sum of one sale',
  per_card_per_day: 'The highest sum of a wallet per UTC day',
  total: 'The highest sum of the sales that are not decided yet',
} as const;

function sumLimits(unit: string, maximum?: number) {
  const { per_payment, per_card_per_day, total } = SUM_LIMITS;
  return {
    per_payment: limit(`${per_payment}, in ${unit}.`, maximum),
    per_card_per_day: limit(`${per_card_per_day}, in ${unit}.`, maximum),
    total: limit(`${total}, in ${unit}.`, maximum),
  };
}

const PresentmentLimits = Type.Object(
  { currency: PresentmentCurrency, ...sumLimits('minor units', MAX_MINOR_UNITS) },
  {
    additionalProperties: false,
    description: 'The three sums in the shop’s currency, if they were set in it.',
  },
);

const otherLimits = {
  count: limit('How many sales may be undecided.'),
  hours: limit('Hours since the till’s last contact, 1 to 72. The till enforces it.', 72),
};
const RateMargin = Margin('How far the till’s rate is above the market’s');

const atomLimits = sumLimits('USDC atoms');

/** Limits as an admin sets them. */
export const OfflineLimitsInput = Type.Object(
  {
    per_payment: Type.Optional(atomLimits.per_payment),
    per_card_per_day: Type.Optional(atomLimits.per_card_per_day),
    total: Type.Optional(atomLimits.total),
    ...otherLimits,
    presentment: Type.Optional(nullable(PresentmentLimits)),
    rate_margin: Type.Optional(RateMargin),
  },
  {
    additionalProperties: false,
    description:
      'How much the till may sell while it is offline. `null` if it sells nothing offline. The ' +
      'three sums are in USDC atoms, or all in `presentment` in the shop’s currency. ' +
      '`rate_margin` is 100 unless it is set.',
  },
);

export const OfflineLimitsSchema = Type.Object(
  {
    ...atomLimits,
    ...otherLimits,
    presentment: nullable(PresentmentLimits),
    rate_margin: RateMargin,
  },
  {
    additionalProperties: false,
    description:
      'How much the till may sell while it is offline. `null` if it sells nothing offline. Sums ' +
      'that were set in the shop’s currency show their worth in USDC atoms at that time.',
  },
);

/** Limits as the till reads them. */
export const TillLimitsSchema = Type.Object(
  {
    ...OfflineLimitsSchema.properties,
    cap: nullable({
      ...AtomsOut,
      description: 'The operator’s cap on one sale, beside the limits; `null` for none.',
    }),
  },
  { additionalProperties: false },
);

const Rate = Type.Integer({ minimum: 0, description: 'Basis points.' });

/** Schema of the rates that the contract charges a payer on top of a sale. */
export const FeeRatesSchema = Type.Object(
  { acquirer: Rate, protocol: Rate, cashback: Rate },
  { description: 'What the contract charges the payer now, each rounded down.' },
);

export const OfflineTermsSchema = Type.Object(
  {
    chain_id: Type.Integer({ description: 'The id of the chain.' }),
    usdc: Type.String({ description: 'The address of the token.' }),
    usdc_name: Type.String({ description: 'The token’s name in its EIP-712 domain.' }),
    usdc_version: Type.String({ description: 'The version in that domain.' }),
    settlement: Type.String({ description: 'The address of the settlement contract.' }),
    merchant_number: Type.Integer({ description: 'The merchant’s number on the contract.' }),
    rates: FeeRatesSchema,
    rates_until: nullable({
      ...Timestamp,
      description:
        'When an announced change of the rates may be applied; `null` if none is announced. No ' +
        'authorization may be valid for longer.',
    }),
    presentment: nullable(
      Type.Object(
        {
          id: Type.String({ description: 'The terms that a record names.' }),
          currency: PresentmentCurrency,
          rate: RateText,
          quoted_at: { ...Timestamp, description: 'The time of the rate.' },
          valid_until: { ...Timestamp, description: '`quoted_at` + `offline.hours`.' },
          margin: Margin('The margin in the rate, in the shop’s favor'),
        },
        {
          description:
            'The terms of sales in the shop’s currency. `null` while the shop has none, or no ' +
            'rate was usable within the last `offline.hours`; earlier terms then hold until ' +
            'their end.',
        },
      ),
    ),
    issued_at: { ...Timestamp, description: 'The time of the service.' },
    blocked: Type.Array(Type.String({ description: 'An address.' }), {
      description: 'Up to 10,000 addresses whose offline sales have bounced at this merchant.',
    }),
  },
  {
    description:
      'What the till signs and checks offline. `null` while `offline` is null, and while the ' +
      'chain does not answer: a till then keeps those that it has.',
  },
);

export const OfflineFiguresSchema = Type.Object(
  {
    payments: Type.Integer({ minimum: 0, description: 'Offline sales that were settled.' }),
    sales: { ...AtomsOut, description: 'The sum of their amounts: USDC atoms.' },
    bounced: Type.Integer({ minimum: 0, description: 'Offline sales that bounced.' }),
    bounced_amount: { ...AtomsOut, description: 'The sum of their amounts: USDC atoms.' },
  },
  {
    description:
      'Sales that were accepted offline and forwarded in this time. The settled ones are part of ' +
      'the sums beside it.',
  },
);
