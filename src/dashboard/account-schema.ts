import Type from 'typebox';
import { DOCUMENT_KINDS } from '#accounts/kyb-documents.ts';
import { WITHDRAWAL_FAILURES } from '#accounts/withdraw.ts';
import { RoleField } from '#dashboard/person-schema.ts';
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

/** Objects of the dashboard that the merchant API does not have. */

const VersionOut = Type.Integer({ minimum: 0, description: 'Send it back with the next change.' });
const AccountId = idOf('acct_', 'account');
const NullableText = nullable(Type.String());

export const ModeSchema = Type.Object({
  mode: oneOf(['test', 'live'] as const, 'The mode.'),
  network: oneOf(['testnet', 'mainnet'] as const, 'Its network.'),
  live: Type.Boolean({ description: 'Registered on the settlement contract.' }),
  live_at: nullable(Timestamp),
  merchant_number: nullable(Type.Integer()),
  settlement_wallet: NullableText,
});

export const AccountSchema = Type.Object({
  id: AccountId,
  object: Type.Literal('account'),
  name: Type.String(),
  status: oneOf(['active', 'disabled'] as const, 'Set by the network operator.'),
  disabled_reason: NullableText,
  kyb_status: oneOf(['none', 'pending', 'approved', 'rejected'] as const, 'Verification.'),
  refund_window_days: Type.Integer(),
  refund_daily_limit: AtomsOut,
  version: VersionOut,
  created: Timestamp,
  modes: Type.Array(ModeSchema),
});

export const MemberSchema = Type.Object({
  user: idOf('usr_', 'user'),
  email: Type.String(),
  name: Type.String(),
  role: RoleField,
  two_factor: Type.Boolean(),
  version: VersionOut,
  created: Timestamp,
});

export const InvitationSchema = Type.Object({
  id: idOf('inv_', 'invitation'),
  email: Type.String(),
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
  name: Type.String(),
  hint: Type.String({ description: 'The beginning and the last four characters.' }),
  scopes: Type.Array(Type.String()),
  ip_allowlist: Type.Array(Type.String()),
  api_version: Type.String(),
  status: oneOf(['active', 'expired', 'revoked'] as const, 'Whether it opens anything.'),
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
  secret: Type.String({ description: 'The key itself, shown this once.' }),
});

export const ManagedTerminalSchema = Type.Object({
  id: idOf('tml_', 'terminal'),
  ...commonFields('terminal'),
  label: Type.String(),
  name: Type.String(),
  platform: Type.String(),
  status: oneOf(['active', 'inactive'] as const, 'Inactive terminals take no payments.'),
  last_seen_at: nullable(Timestamp),
  created: Timestamp,
  version: VersionOut,
});

export const TerminalWithKey = Type.Object({
  ...ManagedTerminalSchema.properties,
  device_key: Type.String({ description: 'The device key, shown this once.' }),
});

export const PairingCodeSchema = Type.Object({ code: Type.String(), expires_at: Timestamp });

export const DocumentSchema = Type.Object({
  id: idOf('doc_', 'document'),
  kind: oneOf(DOCUMENT_KINDS, 'What it shows.'),
  file_name: Type.String(),
  content_type: Type.String(),
  size: Type.Integer(),
  sha256: Type.String(),
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
  status: oneOf(['none', 'pending', 'approved', 'rejected'] as const, 'Of the verification.'),
  version: VersionOut,
  details: nullable(openObject('What was submitted.')),
  documents: Type.Array(DocumentSchema),
  submitted_at: nullable(Timestamp),
  decided_at: nullable(Timestamp),
  decision_reason: NullableText,
});

export const GoLiveSchema = Type.Object({
  live: Type.Boolean(),
  settlement_wallet: NullableText,
  request: nullable(
    Type.Object({
      status: oneOf(['pending', 'succeeded', 'failed'] as const, 'What the chain said.'),
      wallet: Type.String(),
      failure_reason: NullableText,
      tx_hash: NullableText,
      created: Timestamp,
    }),
  ),
  prepared: nullable(
    Type.Object(
      {
        wallet: Type.String(),
        prepared_by: Type.String(),
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
  wallet: Type.String(),
  status: oneOf(['pending', 'succeeded', 'failed'] as const, 'Pending resolves by itself.'),
  failure_code: nullable(oneOf(Object.keys(WITHDRAWAL_FAILURES), 'The list may grow.')),
  failure_message: nullable(Type.String({ description: 'Why it failed, for people.' })),
  tx_hash: NullableText,
  created: Timestamp,
  updated: Timestamp,
  recovered: Recovered,
});

export const AuditEntrySchema = Type.Object({
  sequence: Type.Integer(),
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
