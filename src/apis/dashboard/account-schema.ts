import Type from 'typebox';
import { DOCUMENT_KINDS } from '#accounts/kyb-documents.ts';
import {
  Count,
  EmailOut,
  KYB_STATUSES,
  NameOut,
  RoleField,
} from '#apis/dashboard/person-schema.ts';
import { SCOPES } from '#http/route.ts';
import {
  AtomsOut,
  commonFields,
  idOf,
  nullable,
  oneOf,
  openObject,
  Recovered,
  Timestamp,
  text,
} from '#http/schema.ts';
import { WITHDRAWAL_FAILURES } from '#payouts/render.ts';

/** Objects of the dashboard that the merchant API does not have. */

export const VersionOut = Type.Integer({
  minimum: 0,
  description: 'Send it back with the next change.',
});
const AccountId = idOf('acct_', 'account');
const Wallet = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'An EVM address.' });
const TxHash = Type.String({ pattern: '^0x[0-9a-f]{64}$', description: 'The transaction.' });
const NullableText = nullable(Type.String());

/** The zone in which an account counts days. */
export const TimeZone = text(
  64,
  'IANA name, such as Europe/Berlin: days of statistics, reports and exports are days there. ' +
    'Limits count UTC days.',
  1,
);

export const ModeSchema = Type.Object({
  mode: oneOf(['test', 'live'] as const, 'The mode.'),
  network: oneOf(['testnet', 'mainnet'] as const, 'Its network.'),
  live: Type.Boolean({ description: 'Registered on the settlement contract.' }),
  live_at: nullable(Timestamp),
  merchant_number: nullable(Type.Integer({ minimum: 1, description: 'On the contract.' })),
  settlement_wallet: nullable(Wallet),
});

export const AccountSchema = Type.Object({
  id: AccountId,
  object: Type.Literal('account'),
  name: NameOut,
  status: oneOf(['active', 'disabled'] as const, 'Set by the network operator.'),
  disabled_reason: NullableText,
  kyb_status: oneOf(KYB_STATUSES, 'Verification.'),
  refund_window_days: Count,
  refund_daily_limit: AtomsOut,
  time_zone: TimeZone,
  version: VersionOut,
  created: Timestamp,
  modes: Type.Array(ModeSchema),
});

export const MemberSchema = Type.Object({
  user: idOf('usr_', 'user'),
  email: EmailOut,
  name: NameOut,
  role: RoleField,
  two_factor: Type.Boolean(),
  version: VersionOut,
  created: Timestamp,
});

export const InvitationSchema = Type.Object({
  id: idOf('inv_', 'invitation'),
  email: EmailOut,
  role: RoleField,
  created: Timestamp,
  expires_at: Timestamp,
});

export const ScopeList = Type.Array(oneOf(SCOPES, 'A scope of the merchant API.'), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
});

export const AllowlistField = Type.Array(text(64, 'An address or CIDR range.', 2), {
  maxItems: 50,
});

export const ApiKeySchema = Type.Object({
  id: idOf('key_', 'API key'),
  ...commonFields('api_key'),
  name: NameOut,
  hint: Type.String({ description: 'The first characters of the key and its last four.' }),
  scopes: Type.Array(Type.String()),
  ip_allowlist: Type.Array(Type.String()),
  api_version: Type.String(),
  status: oneOf(['active', 'expired', 'revoked'] as const, 'Whether the key still works.'),
  created: Timestamp,
  created_by: NullableText,
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
  rotated_from: NullableText,
  version: VersionOut,
});

export const ApiKeyWithSecret = Type.Object({
  ...ApiKeySchema.properties,
  secret: Type.String({ description: 'The key itself, shown only once.' }),
});

export const ManagedTerminalSchema = Type.Object({
  id: idOf('tml_', 'terminal'),
  ...commonFields('terminal'),
  label: NameOut,
  name: NameOut,
  platform: NameOut,
  status: oneOf(['active', 'inactive'] as const, 'Inactive terminals take no payments.'),
  last_seen_at: nullable(Timestamp),
  created: Timestamp,
  version: VersionOut,
});

export const TerminalWithKey = Type.Object({
  ...ManagedTerminalSchema.properties,
  device_key: Type.String({ description: 'The device key, shown only once.' }),
});

export const PairingCodeSchema = Type.Object({
  code: Type.String(),
  expires_at: Timestamp,
  by_fresh_factor: Type.Boolean({
    description: 'Whether it also opens a till whose PIN is forgotten.',
  }),
});

export const DocumentSchema = Type.Object({
  id: idOf('doc_', 'document'),
  kind: oneOf(DOCUMENT_KINDS, 'What it shows.'),
  file_name: Type.String(),
  content_type: Type.String(),
  size: Type.Integer({ minimum: 0, description: 'In bytes.' }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of its bytes.' }),
  created: Timestamp,
});

export const KybDetails = Type.Object(
  {
    legal_name: text(200, 'The registered name of the business.', 1),
    registration_number: text(100, 'Its number in the register.', 1),
    country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2.' }),
    address: text(500, 'The registered address.', 1),
    website: Type.Optional(text(300, 'https://…')),
    business: text(500, 'What is sold.', 1),
    representative: text(200, 'Who signs for the business.', 1),
  },
  { additionalProperties: false },
);

export const KybSchema = Type.Object({
  account: AccountId,
  status: oneOf(KYB_STATUSES, 'The status of the verification.'),
  version: VersionOut,
  details: nullable(openObject('What was submitted.')),
  documents: Type.Array(DocumentSchema),
  submitted_at: nullable(Timestamp),
  decided_at: nullable(Timestamp),
  decision_reason: NullableText,
});

export const GoLiveSchema = Type.Object({
  live: Type.Boolean(),
  settlement_wallet: nullable(Wallet),
  request: nullable(
    Type.Object({
      status: oneOf(['pending', 'succeeded', 'failed'] as const, 'What the chain answered.'),
      wallet: Wallet,
      failure_reason: NullableText,
      tx_hash: nullable(TxHash),
      created: Timestamp,
    }),
  ),
  prepared: nullable(
    Type.Object(
      {
        wallet: Wallet,
        prepared_by: EmailOut,
        expires_at: Timestamp,
        created: Timestamp,
      },
      { description: 'What an admin has prepared and an owner can confirm.' },
    ),
  ),
});

export const ConsentSchema = Type.Object({
  deadline: Type.Integer({ description: 'Unix seconds; part of what is signed.' }),
  typed_data: openObject('What the wallet signs: the argument of eth_signTypedData_v4.'),
});

export const ConsentBody = Type.Object({
  wallet: text(42, 'The EVM address that will get the money.', 42),
  deadline: Type.Integer({ minimum: 1, description: 'As in the signed message.' }),
  signature: Type.Unsafe<`0x${string}`>({
    type: 'string',
    pattern: '^0x([0-9a-fA-F]{2}){64,2048}$',
    description: "The wallet's EIP-712 signature.",
  }),
});

export const WithdrawalSchema = Type.Object({
  id: idOf('wdr_', 'withdrawal'),
  ...commonFields('withdrawal'),
  amount: AtomsOut,
  currency: Type.Literal('usdc'),
  wallet: Wallet,
  status: oneOf(['pending', 'succeeded', 'failed'] as const, 'Pending resolves by itself.'),
  failure_code: nullable(oneOf(Object.keys(WITHDRAWAL_FAILURES), 'The list may grow.')),
  failure_message: nullable(Type.String({ description: 'Why it failed, for people.' })),
  tx_hash: nullable(TxHash),
  created: Timestamp,
  updated: Timestamp,
  recovered: Recovered,
});

export const AuditEntrySchema = Type.Object({
  sequence: Type.Integer({ minimum: 0, description: 'Its place in the log.' }),
  created: Timestamp,
  actor: openObject('Who did it.'),
  action: Type.String(),
  object_id: Type.String(),
  livemode: nullable(Type.Boolean()),
  before: nullable(openObject('What it was before.')),
  after: nullable(openObject('What it is now.')),
  request_id: NullableText,
  address: NullableText,
  hash: Type.String({ description: 'Of this entry and the one before it, as hex.' }),
});
