import Type from 'typebox';
import { LimitPresentment } from '#apis/merchant/limit-schema.ts';
import { Discounts } from '#apis/merchant/line-schema.ts';
import {
  FeeRatesSchema,
  OfflineLimitsSchema,
  OfflineTermsSchema,
  TillLimitsSchema,
} from '#apis/merchant/offline-schema.ts';
import { OrderId, PersonAtTill, TipAmount, Tipping } from '#apis/merchant/payment-schema.ts';
import { priceFields } from '#apis/merchant/presentment-schema.ts';
import {
  AtomsOut,
  commonFields,
  idOf,
  listOf,
  nullable,
  objectType,
  oneOf,
  pageParameters,
  Timestamp,
  text,
  textOut,
} from '#http/schema.ts';
import { LANGUAGES } from '#i18n/languages.ts';
import { TAPPED_TYPES } from '#payments/credential.ts';
import { INTENT_STATUSES } from '#payments/intent-rows.ts';

const terminalFields = {
  id: idOf('tml_', 'terminal'),
  ...commonFields('terminal'),
  label: text(500, 'Its name in the dashboard.'),
  name: text(500, 'The kind of device.'),
  platform: text(100, 'The terminal software. The list may grow.'),
  software_version: nullable(
    textOut('As the terminal reported it; `null` if it has not reported it.'),
  ),
  status: oneOf(['active', 'inactive'] as const, 'An inactive terminal takes no payments.'),
  location: nullable({
    ...idOf('loc_', 'location'),
    description: 'Location of the terminal; `null` if it has none.',
  }),
  offline: nullable(OfflineLimitsSchema),
  refund_limit: nullable({
    ...AtomsOut,
    description:
      'USDC atoms of one sale that it may refund without a signed-in person. If it is `null`, ' +
      'nothing where people have PINs, else as the account’s `till_refund_limit` says.',
  }),
  refund_limit_presentment: LimitPresentment,
  last_seen_at: nullable(Timestamp),
  created: Timestamp,
};

export const TerminalSchema = Type.Object(terminalFields, {
  title: 'Terminal',
  description: 'A terminal of the account.',
});
export const TerminalList = listOf(TerminalSchema);

export const TerminalListQuery = Type.Object({
  ...pageParameters,
  status: Type.Optional(oneOf(['active', 'inactive'] as const, 'Only terminals of this status.')),
});

export const Pin = Type.String({
  pattern: '^[0-9]{4,8}$',
  description: '4 to 8 digits, as text. The service never returns it.',
  examples: ['4927'],
});

export const ShiftSchema = Type.Object(
  {
    id: idOf('shf_', 'shift'),
    object: objectType('shift'),
    cashier: nullable({
      ...PersonAtTill,
      description:
        'The signed-in person. `null` if there is none, because the account has no PINs, or ' +
        'because the PIN or the membership has ended since.',
    }),
    started_at: { ...Timestamp, description: 'When the shift began.' },
    ended_at: nullable({ ...Timestamp, description: 'When it ended; `null` while it is open.' }),
    refund_limit: nullable({
      ...AtomsOut,
      description:
        'USDC atoms of one sale, over all its refunds, that the signed-in person may refund; ' +
        '`null` for up to the account’s daily limit, 0 without a person.',
    }),
    refund_limit_presentment: LimitPresentment,
    may_discount: Type.Boolean({
      description: 'Whether the signed-in person may give discounts; false without a person.',
    }),
  },
  { title: 'Shift', description: 'A shift at a till.' },
);

const ShiftOfTill = {
  ...nullable(ShiftSchema),
  description: 'The open shift of the terminal; `null` if there is none.',
};

export const SHIFT_EXAMPLE = {
  id: 'shf_01QzYb4mVd7RkT2nWq5Lc8',
  object: 'shift',
  cashier: 'usr_01QzX0aKpV9sJm3xRt6Bw2',
  started_at: '2026-10-01T08:00:00.000Z',
  ended_at: null,
  refund_limit: 20000000,
  refund_limit_presentment: null,
  may_discount: false,
} as const;

export const DeviceSchema = Type.Object(
  {
    ...terminalFields,
    merchant_name: Type.String({ description: 'The name of the merchant.' }),
    time_zone: Type.String({
      description:
        'The time zone (IANA) of the terminal’s location, or else of the merchant, which defines ' +
        'its days.',
    }),
    language: nullable(
      oneOf(
        LANGUAGES,
        'The language of the customers of its location, or else of the merchant. `null` if none ' +
          'is set.',
      ),
    ),
    currency: nullable(
      Type.String({
        pattern: '^[a-z]{3}$',
        description:
          'The currency in which the shop prices and the cashier types sums, of the terminal’s ' +
          'location or else of the merchant: ISO 4217, in lowercase; `null` for USDC.',
      }),
    ),
    discounts: Discounts,
    default_tax_rate: nullable(
      Type.String({
        description:
          'The name of the tax rate of a sale that is typed on the keypad; `null` for none.',
      }),
    ),
    default_tax_basis_points: nullable(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description: 'The basis points of `default_tax_rate` at this terminal.',
      }),
    ),
    tip_percentages: Type.Array(Type.Integer({ description: 'Percent of the amount.' }), {
      description: 'The tips that the till offers.',
    }),
    signs_receipts: Type.Boolean({
      description:
        'True if this terminal sends its receipts to the account’s fiscal signer: see ' +
        '`GET /fiscal_receipts`.',
    }),
    tag_url: Type.String({
      format: 'uri',
      description: 'The address written to this terminal’s tag.',
    }),
    brand_path: nullable(
      Type.String({
        description: 'The path of a style sheet with the merchant’s logo and color.',
      }),
    ),
    shift: ShiftOfTill,
    may_discount: Type.Boolean({
      description:
        'True if this terminal may give discounts without a manager: the account has no PINs, ' +
        'or the signed-in person may. A terminal that sells offline gives none otherwise.',
    }),
    offline: nullable({
      ...TillLimitsSchema,
      description:
        'The merchant’s limits and the operator’s cap; `null` if this terminal may sell ' +
        'nothing offline.',
    }),
    offline_terms: nullable(OfflineTermsSchema),
    fee_rates: nullable(FeeRatesSchema),
  },
  { title: 'Device', description: 'The requesting terminal, and its merchant.' },
);

export const TERMINAL_EXAMPLE = {
  id: 'tml_01QzXnyWbB0mJr6vGq2Lk9',
  object: 'terminal',
  livemode: false,
  network: 'testnet',
  label: 'Counter 1',
  name: 'Counter 1',
  platform: 'browser',
  software_version: '1.4.0',
  status: 'active',
  location: null,
  offline: null,
  refund_limit: null,
  refund_limit_presentment: null,
  last_seen_at: '2026-10-01T12:00:00.000Z',
  created: '2026-09-28T08:00:00.000Z',
} as const;

const PLATFORMS = ['browser', 'reader', 'android_webview', 'generic'] as const;

export const SoftwareBody = Type.Object({
  platform: Type.Optional(oneOf(PLATFORMS, 'The platform of the software.')),
  software_version: Type.Optional(
    Type.String({
      // Allows release numbers with suffixes, dates and commits. The value appears in logs and
      // lists.
      pattern: '^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$',
      description: '1 to 64 characters of A-Z a-z 0-9 . + _ -; the first is a letter or a digit.',
      examples: ['1.4.0'],
    }),
  ),
});

/** Maximum duration of a long poll, in seconds (docs/terminal-protocol.md). */
const MAX_WAIT_SECONDS = 25;

export const WaitParameter = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    default: 0,
    description: 'Seconds to wait for a change, 0 to 25. Default 0.',
  }),
);

export const NextQuery = Type.Object({ wait: WaitParameter });

export const WatchQuery = Type.Object({
  wait: WaitParameter,
  status: Type.Optional(
    oneOf(
      INTENT_STATUSES,
      'The status that the terminal shows; the response is sent once it differs.',
    ),
  ),
});

export const SplitGroupInput = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: '1 to 64 characters of A-Z a-z 0-9 - _; the same for all intents of one bill.',
});

/** Maximum length of a cashier's name or number, which the shift totals print. */
const MAX_CASHIER = 40;

export const Cashier = text(
  MAX_CASHIER,
  `The cashier, 1 to ${MAX_CASHIER} characters: \`cashier\` in \`metadata\`.`,
  1,
);

/**
 * Returns metadata with the cashier's name, which the shift totals read. A column for it would make
 * creating intents slower for every merchant.
 */
export function namedCashier({ cashier }: { readonly cashier?: string }): Record<string, string> {
  return cashier === undefined ? {} : { cashier };
}

export const ManagerCode = text(20, 'A code from the dashboard, for what needs a manager.', 8);

export const ManagerAtTill = Type.Object(
  {
    id: text(64, 'The person: an owner or admin with a PIN, or a manager of the staff.', 1),
    pin: Pin,
  },
  {
    additionalProperties: false,
    description:
      'A manager at the till, who lifts what needs one for this request. The service keeps no ' +
      'trace of the PIN, and a repeated request with the same key may omit it.',
  },
);

export const CashierIntentBody = Type.Object({
  ...priceFields,
  order_id: Type.Optional(OrderId),
  description: Type.Optional(text(500, 'Up to 500 characters.')),
  split_group: Type.Optional(SplitGroupInput),
  cashier: Type.Optional(Cashier),
  manager_code: Type.Optional(ManagerCode),
  manager: Type.Optional(ManagerAtTill),
  tipping: Type.Optional(nullable(Tipping)),
});

/** It checks only the form; the tap looks the credential up. */
export const TappedCredential = Type.Object(
  {
    type: oneOf(
      TAPPED_TYPES,
      'The kind of credential: the static chip of a pass, a SUN card, a code of the wallet ' +
        'app, a code of a pass that changes every half minute, or the pass in Google Wallet or ' +
        'Apple Wallet.',
    ),
    value: Type.String({
      pattern: '^[\\x21-\\x7e]{1,500}$',
      description:
        'nfc_id: the credential of the pass (nfc_…). nfc_sun: the URL that the card gave. qr: ' +
        'the text of the code. rotating_code: the id of the pass, a period and eight digits. ' +
        'smart_tap, apple_vas: base64url of a byte 1, the 32 bytes that the phone drew (Smart ' +
        'Tap) or the 4 bytes of its Unix time (VAS), and the message of the pass.',
    }),
  },
  { additionalProperties: false, description: 'The pass that the terminal’s reader read.' },
);

export const TapBody = Type.Object({
  credential: TappedCredential,
  tip_amount: Type.Optional(TipAmount),
});
