import Type from 'typebox';
import { SCOPES } from '#accounts/api-key-scopes.ts';
import { DOCUMENT_KINDS } from '#accounts/kyb-documents.ts';
import {
  count,
  EmailOut,
  KYB_STATUSES,
  nameOut,
  RoleField,
} from '#apis/dashboard/person-schema.ts';
import { LimitPresentment } from '#apis/merchant/limit-schema.ts';
import { Discounts } from '#apis/merchant/line-schema.ts';
import { ShopRate } from '#apis/merchant/presentment-schema.ts';
import { TerminalSchema } from '#apis/merchant/terminal-schema.ts';
import { STATEMENT_FORMATS } from '#books/statement-formats.ts';
import type { SettingClasses } from '#core/setting-classes.ts';
import {
  AtomsOut,
  Currency,
  commonFields,
  Day,
  idOf,
  listOf,
  nullable,
  objectType,
  oneOf,
  openObject,
  Recovered,
  Timestamp,
  text,
  textOut,
  walletSignature,
} from '#http/schema.ts';
import { LANGUAGES } from '#i18n/languages.ts';
import { PAYOUT_PERIODS } from '#payouts/automatic-payout-queries.ts';
import { WITHDRAWAL_FAILURES } from '#payouts/render.ts';
import { MAX_URL_LENGTH } from '#webhooks/endpoint-url.ts';

/** Schemas of objects that the dashboard has and the merchant API does not. */

export const VersionOut = Type.Integer({
  minimum: 0,
  description: 'Send it back with the next change.',
});
const AccountId = idOf('acct_', 'account');
const Wallet = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'An EVM address.' });
const TxHash = Type.String({ pattern: '^0x[0-9a-f]{64}$', description: 'The transaction.' });

function nullableText(description: string) {
  return nullable(textOut(description));
}

export const TimeZone = text(
  64,
  'IANA name, such as Europe/Berlin: days of statistics, reports and exports are in this zone. ' +
    'Limits count UTC days.',
  1,
);

export const LanguageOut = nullable(
  oneOf(
    LANGUAGES,
    'The language of pages, receipts and mails if a customer’s browser requests none. ' +
      '`null` is English.',
  ),
);

export const AutomaticPayout = nullable(
  oneOf(
    PAYOUT_PERIODS,
    'Pays the whole balance out to the settlement wallet at the end of each day or week of the ' +
      'account’s time zone, if it is 20 USDC or more; `null` for not at all. Set by owners.',
  ),
);

export const ExportSchedule = nullable(
  Type.Object(
    {
      every: oneOf(['day', 'week', 'month'] as const, 'Weeks begin on Mondays.'),
      format: oneOf(STATEMENT_FORMATS, 'The format of the statements.'),
      email: Type.Optional(EmailOut),
    },
    {
      additionalProperties: false,
      description:
        'Sends `export.ready` with a link to the statement of each period that has ended, and a ' +
        'mail if `email` is set; `null` for never.',
    },
  ),
);

const LedgerAccount = (description: string) =>
  Type.String({
    pattern: '^[0-9]{4,8}$',
    description: `${description} 4 to 8 digits.`,
    examples: ['8400'],
  });

export const Datev = nullable(
  Type.Object(
    {
      chart: oneOf(['skr03', 'skr04'] as const, 'The chart of accounts.'),
      revenue: Type.Unsafe<{ readonly [rate: string]: string }>({
        type: 'object',
        propertyNames: { pattern: '^(none|0|[1-9][0-9]{0,3}|10000)$' },
        additionalProperties: LedgerAccount('A revenue account.'),
        description:
          'The revenue accounts by tax rate in basis points, such as `1900`; `none` for sales ' +
          'without items.',
      }),
      tips: Type.Optional(
        nullable(LedgerAccount('The account of tips. `null`: that of the highest rate.')),
      ),
      clearing: LedgerAccount('Money in transit: the balance at Tapline.'),
      bank: LedgerAccount('The settlement wallet, to which payouts go.'),
      rounding: LedgerAccount('What rounding to cents leaves.'),
    },
    {
      additionalProperties: false,
      description:
        'The accounts of the statement in the format `datev`; `null` until they are set. The ' +
        'guide `books` says what each account means.',
    },
  ),
);

export const DayStartsAt = Type.String({
  pattern: '^(0[0-9]|1[01]):[0-5][0-9]$',
  description:
    'The local time at which days start, from 00:00 to 11:59: sales after midnight belong to the ' +
    'day before until then, in totals, statements, schedules and payouts. A change holds from ' +
    'the next start. Limits count UTC days.',
  examples: ['05:00'],
});

const DayStartRules = Type.Array(
  Type.Object({
    from: { ...Day, description: 'The first day that starts at this time.' },
    at: { ...DayStartsAt, description: 'The local time, HH:MM.' },
  }),
);

const ShopText = (description: string) =>
  nullable(text(200, `${description} Up to 200 characters, or \`null\`.`));

export const shopFields = {
  currency: nullable(
    Type.String({
      pattern: '^[a-z]{3}$',
      description: 'The currency of the shop’s prices: ISO 4217, in lowercase; `null` for USDC.',
      examples: ['eur'],
    }),
  ),
  tax_rates: Type.Array(
    Type.Object(
      {
        name: text(100, 'Its name on screens and receipts, 1 to 100 characters.', 1),
        rate: Type.Integer({ minimum: 0, maximum: 10_000, description: 'Basis points.' }),
      },
      { additionalProperties: false, description: 'A tax rate.' },
    ),
    { maxItems: 50, description: 'Up to 50 tax rates, each with a distinct name.' },
  ),
  prices_include_tax: Type.Boolean({
    description: 'True if prices include their tax, unless a line says otherwise.',
  }),
  discounts: Discounts,
  legal_name: ShopText('The registered name of the business, on receipts.'),
  address: ShopText('The address of the business, on receipts.'),
  fiscal_signer: nullable(
    Type.Object(
      {
        url: Type.String({
          minLength: 1,
          maxLength: MAX_URL_LENGTH,
          description:
            'Where receipts are sent, under the rules for webhook addresses. If tills call it: ' +
            'an address in their network, https, or http on 127.0.0.1 or localhost.',
          examples: ['https://signer.example.com/receipts'],
        }),
        called_by: Type.Optional(
          Type.Literal('terminal', {
            description:
              'Tills call the signer, each for its own sales. Omitted: the network does.',
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          'The service that signs the receipts of payments and refunds; `null` if there is none.',
      },
    ),
  ),
  tax_number: ShopText('The tax number of the business, on receipts.'),
  default_tax_rate: nullable(
    text(
      100,
      'The name of one of `tax_rates`: the rate of a sale that is typed on the keypad of a till; ' +
        '`null` for none.',
    ),
  ),
  tip_percentages: nullable(
    Type.Array(
      Type.Integer({ minimum: 1, maximum: 50, description: 'Percent of the amount, 1 to 50.' }),
      {
        minItems: 1,
        maxItems: 3,
        description: 'The 1 to 3 percentages that a till offers as tips; `null` for 10, 15 and 20.',
      },
    ),
  ),
};

export const ACCOUNT_FIELDS: SettingClasses = {
  // These change access, money or a verified name: see `mayChangeSettings`.
  ...{ name: 'own', refund_window_days: 'own', refund_daily_limit: 'own', automatic_payout: 'own' },
  till_refund_limit: 'own',
  ...{ datev: 'inner', day_starts_at: 'inner' },
  ...{ export_schedule: 'outward', fiscal_signer: 'outward', report_email: 'outward' },
  ...{ currency: 'printed', tax_rates: 'printed', prices_include_tax: 'printed' },
  ...{ legal_name: 'printed', address: 'printed', tax_number: 'printed' },
  ...{ default_tax_rate: 'printed', tip_percentages: 'inner' },
  ...{ time_zone: 'inner', language: 'inner', discounts: 'inner' },
};

export const ModeSchema = Type.Object({
  mode: oneOf(['test', 'live'] as const, 'The mode.'),
  network: oneOf(['testnet', 'mainnet'] as const, 'Its network.'),
  live: Type.Boolean({ description: 'True if registered on the settlement contract.' }),
  live_at: nullable(Timestamp),
  merchant_number: nullable(
    Type.Integer({ minimum: 1, description: 'The merchant’s number on the contract.' }),
  ),
  settlement_wallet: nullable(Wallet),
});

export const AccountSchema = Type.Object(
  {
    id: AccountId,
    object: objectType('account'),
    name: nameOut('The name of the account, as payers see it.'),
    requested_name: nullableText('The name that waits for a review; `null` if none does.'),
    status: oneOf(['active', 'disabled'] as const, 'Set by the network operator.'),
    disabled_reason: nullableText(
      'The reason why the operator disabled it; `null` if it is active.',
    ),
    kyb_status: oneOf(KYB_STATUSES, 'The status of the business verification.'),
    refund_window_days: count(
      'The number of days after its payment in which a refund can be made.',
    ),
    refund_daily_limit: {
      ...AtomsOut,
      description: 'USDC atoms that can be refunded per UTC day.',
    },
    refund_daily_limit_presentment: LimitPresentment,
    till_refund_limit: {
      ...AtomsOut,
      description: 'USDC atoms of one sale that a till may refund while no person is signed in.',
    },
    till_refund_limit_presentment: LimitPresentment,
    time_zone: TimeZone,
    language: LanguageOut,
    automatic_payout: AutomaticPayout,
    export_schedule: ExportSchedule,
    report_email: nullable({
      ...EmailOut,
      description: 'The address to which the reports of shifts are mailed; `null` for none.',
    }),
    requested_report_email: nullable({
      ...EmailOut,
      description: 'A new `report_email` that the link in its mail has not confirmed yet.',
    }),
    datev: Datev,
    day_starts_at: DayStartsAt,
    day_starts: Type.Object(
      {
        test: { ...DayStartRules, description: 'The times of test mode.' },
        live: { ...DayStartRules, description: 'The times of live mode.' },
      },
      {
        description:
          'Since when days start at which time, the oldest first, for each mode, because each ' +
          'has its own clock. Earlier days start at 00:00.',
      },
    ),
    ...shopFields,
    organization: nullable({
      ...idOf('org_', 'organization'),
      description: 'The organization that the account belongs to; `null` if to none.',
    }),
    version: VersionOut,
    created: Timestamp,
    modes: Type.Array(ModeSchema, { description: 'Test and live mode, each with its settings.' }),
  },
  { title: 'Account', description: 'The account, its settings and its modes.' },
);

/** The fields of an account that a cashier may see. */
export const CashierAccountSchema = Type.Object(
  {
    id: AccountId,
    object: objectType('account'),
    name: nameOut('The name of the account, as payers see it.'),
    time_zone: TimeZone,
  },
  { title: 'CashierAccount', description: 'The account, for a cashier.' },
);

/** Schema of the rights of a person at tills, in a response. */
export const tillRights = {
  pin_blocked: Type.Boolean({
    description:
      'True if too many wrong PINs blocked the person, until an admin sets the PIN, or the same ' +
      'one again.',
  }),
  refund_limit: nullable({
    ...AtomsOut,
    description:
      'USDC atoms of one sale that the person may refund at a till; `null` for up to the ' +
      'account’s daily limit.',
  }),
  refund_limit_presentment: LimitPresentment,
  may_discount: Type.Boolean({
    description: 'Whether the person may give discounts at a till without a manager.',
  }),
};

export const MemberSchema = Type.Object(
  {
    user: idOf('usr_', 'user'),
    email: EmailOut,
    name: nameOut('The name of the person.'),
    role: RoleField,
    organization: nullable({
      ...idOf('org_', 'organization'),
      description: 'The organization that gives the role; `null` for a role in this account alone.',
    }),
    two_factor: Type.Boolean({ description: 'True if the person has a second factor.' }),
    has_pin: Type.Boolean({ description: 'True if the member has a PIN for tills.' }),
    ...tillRights,
    version: VersionOut,
    created: Timestamp,
  },
  { description: 'The member.' },
);

export const InvitationSchema = Type.Object(
  {
    id: idOf('inv_', 'invitation'),
    email: EmailOut,
    role: RoleField,
    created: Timestamp,
    expires_at: Timestamp,
  },
  { description: 'The invitation.' },
);

export const ScopeList = Type.Array(oneOf(SCOPES, 'A scope of the merchant API.'), {
  description: 'The scopes of the key.',
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
});

export const AllowlistField = Type.Array(text(64, 'An address or CIDR range.', 2), {
  description: 'IP addresses and CIDR ranges from which the key may be used; empty for all.',
  maxItems: 50,
});

export const ApiKeySchema = Type.Object(
  {
    id: idOf('key_', 'API key'),
    ...commonFields('api_key'),
    name: nameOut('The key’s name in the dashboard.'),
    hint: text(100, 'The first characters of the key and its last four.'),
    scopes: Type.Array(text(100, 'A scope.'), { description: 'The scopes of the key.' }),
    ip_allowlist: Type.Array(text(64, 'An address or CIDR range.', 2), {
      description: 'IP addresses and CIDR ranges from which the key may be used; empty for all.',
    }),
    api_version: text(20, 'The API version of requests that do not name one.'),
    status: oneOf(['active', 'expired', 'revoked'] as const, 'True while the key works.'),
    created: Timestamp,
    created_by: nullableText('The person who created the key, or null.'),
    expires_at: nullable(Timestamp),
    revoked_at: nullable(Timestamp),
    last_used_at: nullable(Timestamp),
    rotated_from: nullableText('The id of the key that this one replaced, or null.'),
    version: VersionOut,
  },
  { description: 'The API key, without its secret.' },
);

export const ApiKeyWithSecret = Type.Object(
  {
    ...ApiKeySchema.properties,
    secret: textOut('The key itself, shown only once.'),
  },
  { description: 'The new API key with its secret.' },
);

export const ManagedTerminalSchema = Type.Object(
  {
    ...TerminalSchema.properties,
    tag_url: Type.String({
      format: 'uri',
      description:
        'For an NFC sticker or a QR code on the counter: a page that shows the payment that this ' +
        'terminal requests, and takes it. `tag/rotate` creates another address.',
    }),
    smart_tap: Type.Boolean({
      description: 'True if the reader of this terminal reads passes in Google Wallet.',
    }),
    version: VersionOut,
  },
  {
    title: 'DashboardTerminal',
    description: 'The terminal, with its tag and the version that an edit names.',
  },
);

export const ManagedTerminalList = listOf(ManagedTerminalSchema);

export const TerminalWithKey = Type.Object(
  {
    ...ManagedTerminalSchema.properties,
    device_key: textOut('The device key, shown only once.'),
  },
  { description: 'The terminal with its new device key.' },
);

export const PairingCodeSchema = Type.Object(
  {
    code: textOut('The code to type in at the terminal.'),
    expires_at: Timestamp,
    by_fresh_factor: Type.Boolean({
      description: 'True if it also unlocks a till with a forgotten PIN.',
    }),
  },
  { description: 'The pairing code.' },
);

export const DocumentSchema = Type.Object(
  {
    id: idOf('doc_', 'document'),
    kind: oneOf(DOCUMENT_KINDS, 'The kind of document.'),
    file_name: textOut('The name of the file, as it was uploaded.'),
    content_type: textOut('The media type of the file.'),
    size: Type.Integer({ minimum: 0, description: 'In bytes.' }),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of its bytes, in hex.',
    }),
    created: Timestamp,
  },
  { description: 'The document, without its bytes.' },
);

export const KybDetails = Type.Object(
  {
    legal_name: text(200, 'The registered name of the business.', 1),
    registration_number: text(100, 'Its number in the register.', 1),
    country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2.' }),
    address: text(500, 'The registered address.', 1),
    website: Type.Optional(text(300, 'https://…')),
    business: text(500, 'The goods or services that are sold.', 1),
    representative: text(200, 'The person who signs for the business.', 1),
  },
  { additionalProperties: false, description: 'The details that the business submitted.' },
);

export const KybSchema = Type.Object(
  {
    account: AccountId,
    status: oneOf(KYB_STATUSES, 'The status of the verification.'),
    version: VersionOut,
    details: nullable(openObject('The submitted details.')),
    documents: Type.Array(DocumentSchema, { description: 'The documents that were uploaded.' }),
    submitted_at: nullable(Timestamp),
    decided_at: nullable(Timestamp),
    decision_reason: nullableText(
      'The reason for the decision, in words for the merchant; or null.',
    ),
  },
  { description: 'The verification with its documents.' },
);

export const GoLiveSchema = Type.Object(
  {
    live: Type.Boolean({ description: 'True if it is registered on the settlement contract.' }),
    settlement_wallet: nullable(Wallet),
    next_contract: nullable(
      textOut(
        'The settlement contract that the account should move to: go live again with the ' +
          'same wallet. `null` if it has moved, or is not live.',
      ),
    ),
    request: nullable(
      Type.Object(
        {
          status: oneOf(
            ['pending', 'succeeded', 'failed'] as const,
            'The result of the registration on the chain.',
          ),
          wallet: Wallet,
          failure_reason: nullableText('The reason why the registration failed, or null.'),
          tx_hash: nullable(TxHash),
          created: Timestamp,
        },
        { description: 'The newest registration.' },
      ),
    ),
    prepared: nullable(
      Type.Object(
        {
          wallet: Wallet,
          prepared_by: EmailOut,
          expires_at: Timestamp,
          created: Timestamp,
        },
        { description: 'A request that an admin has prepared and an owner can confirm.' },
      ),
    ),
  },
  { description: 'Whether the account is live, and the requests in progress.' },
);

export const ConsentSchema = Type.Object(
  {
    deadline: Type.Integer({ description: 'Unix seconds; part of the signed message.' }),
    typed_data: openObject(
      'The message that the wallet signs: the argument of eth_signTypedData_v4.',
    ),
  },
  { description: 'The message to sign, and the time until which the signature is valid.' },
);

export const ConsentBody = Type.Object({
  wallet: text(42, 'The EVM address that will receive the money.', 42),
  deadline: Type.Integer({ minimum: 1, description: 'The deadline in the signed message.' }),
  signature: walletSignature(
    "The wallet's EIP-712 signature: 65 bytes from a key, or of any length from a contract wallet.",
  ),
});

export const WithdrawalSchema = Type.Object(
  {
    id: idOf('wdr_', 'withdrawal'),
    ...commonFields('withdrawal'),
    amount: AtomsOut,
    currency: Currency,
    shop_rate: ShopRate,
    wallet: Wallet,
    status: oneOf(['pending', 'succeeded', 'failed'] as const, 'pending resolves by itself.'),
    failure_code: nullable(oneOf(Object.keys(WITHDRAWAL_FAILURES), 'The list may grow.')),
    failure_message: nullable(Type.String({ description: 'The reason it failed, in words.' })),
    tx_hash: nullable(TxHash),
    automatic: Type.Boolean({
      description: 'True if the service has requested it by itself, at the end of a period.',
    }),
    period: nullable(
      text(
        10,
        'The first day of that period, YYYY-MM-DD; `null` if a person has requested it.',
        10,
      ),
    ),
    created: Timestamp,
    updated: Timestamp,
    recovered: Recovered,
  },
  { description: 'The withdrawal.' },
);

export const AuditEntrySchema = Type.Object({
  sequence: Type.Integer({ minimum: 0, description: 'Its position in the log.' }),
  created: Timestamp,
  actor: openObject('The actor.'),
  action: text(100, 'The action, such as api_key.created.'),
  object_id: text(100, 'The id of the changed object.'),
  livemode: nullable(
    Type.Boolean({
      description: 'True for live mode; `null` if the entry concerns both modes.',
    }),
  ),
  before: nullable(openObject('The state before the action.')),
  after: nullable(openObject('The state after the action.')),
  people: Type.Array(
    Type.Object({
      id: text(100, 'The id of a user or a staff member.'),
      name: nameOut('The name of the person now. An erased name is replaced here, too.'),
    }),
    { description: 'The people whose ids the entry holds as its object, before or after.' },
  ),
  request_id: nullableText('The request that caused it; `null` if the service acted by itself.'),
  address: nullableText('The IP address that the request came from, or null.'),
  hash: Type.String({
    description: 'The SHA-256 of this entry and the hash of the one before it, as hex.',
  }),
});
