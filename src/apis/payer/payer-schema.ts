import Type from 'typebox';
import { PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { TippedPresentment } from '#apis/merchant/presentment-schema.ts';
import { WaitParameter } from '#apis/merchant/terminal-schema.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import {
  Amount,
  AtomsOut,
  Currency,
  commonFields,
  idOf,
  nullable,
  objectType,
  oneOf,
  openObject,
  Timestamp,
  text,
  textOut,
  walletAddress,
  walletSignature,
} from '#http/schema.ts';
import { AGENT_TOKEN_STATUSES } from '#payers/agent-token.ts';
import { AGENT_TOKEN_SECONDS } from '#payers/create-agent-token.ts';
import { MAX_FAUCET_ATOMS } from '#payers/create-approval.ts';
import { LEAST_TRANSFER_ATOMS } from '#payers/create-transfer.ts';

export const Address = walletAddress();

export const Signature = walletSignature(
  'The signature of the wallet: 65 bytes from a key, or of any length from a contract wallet.',
);

/** Schema of a list that fits into one response, without pages. */
export function shortListOf<S extends Type.TSchema>(item: S) {
  return Type.Object({
    object: objectType('list'),
    data: Type.Array(item, { description: 'All of them: the list fits into one response.' }),
    has_more: Type.Boolean({ description: 'Always false: the list fits into one response.' }),
    next_cursor: Type.Null({ description: 'Always `null`, because there is only one page.' }),
  });
}

export const ExpiresIn = Type.Integer({
  minimum: AGENT_TOKEN_SECONDS.min,
  maximum: AGENT_TOKEN_SECONDS.max,
  description: 'Seconds until the token expires: 60 to 86400.',
});

const agentTokenFields = {
  id: idOf('agtok_', 'agent token'),
  ...commonFields('agent_token'),
  account: idOf('acct_', 'account'),
  amount: Amount,
  currency: Currency,
  status: oneOf(AGENT_TOKEN_STATUSES, 'held: its intent is in progress. spent: it has paid.'),
  payment_intent: nullable(idOf('pi_', 'payment intent')),
  expires_at: Timestamp,
  created: Timestamp,
};

export const AgentTokenSchema = Type.Object(agentTokenFields, {
  title: 'AgentToken',
  description: 'The amount that an agent may spend once, without the token itself.',
});

export const NewAgentTokenSchema = Type.Object(
  {
    ...agentTokenFields,
    agent_token: Type.String({ description: 'The token itself (agt_…). Shown only once.' }),
  },
  { title: 'NewAgentToken', description: 'The new token, which only this response contains.' },
);

export const NewAgentTokenBody = Type.Object({
  account: idOf('acct_', 'merchant account'),
  amount: Amount,
  expires_in: ExpiresIn,
});

const passFields = {
  id: idOf('pass_', 'pass'),
  ...commonFields('pass'),
  label: text(100, "The payer's name for it."),
  status: oneOf(['active', 'revoked'] as const, 'A revoked pass pays nothing.'),
  revoked_at: nullable(Timestamp),
  last_declined: nullable(
    Type.Object(
      {
        declined_at: Timestamp,
        decline_code: Type.String({
          description: 'The reason: a `decline_code`, as the till got it.',
        }),
      },
      {
        description:
          'The newest declined tap by the code of this pass that never changes: ' +
          'anyone who reads that code can copy it. `null` if none was declined.',
      },
    ),
  ),
  created: Timestamp,
};

export const PassSchema = Type.Object(passFields, {
  title: 'Pass',
  description: 'A pass of the payer, without its credential.',
});

export const NewPassSchema = Type.Object(
  {
    ...passFields,
    nfc_id: Type.String({ description: 'The credential on the chip (nfc_…). Shown only once.' }),
  },
  {
    title: 'NewPass',
    description: 'The new pass with its credential, which only this response contains.',
  },
);

export const NewPassBody = Type.Object({
  label: Type.Optional(text(100, "Up to 100 characters: the payer's name for it.")),
});

const Limit = nullable(
  Type.Integer({
    minimum: 1,
    maximum: MAX_AMOUNT,
    description: 'USDC atoms, 1 to 1000000000000; `null` for no limit of its own.',
  }),
);

const ConfirmFirst = Type.Boolean({
  description: 'True if each first payment at a merchant must be confirmed.',
});

export const PayerSchema = Type.Object(
  {
    id: idOf('pyr_', 'payer'),
    ...commonFields('payer'),
    address: Address,
    status: oneOf(['active', 'blocked'] as const, 'A blocked payer is declined everywhere.'),
    limits: Type.Object(
      {
        per_payment: Limit,
        per_day: Limit,
        confirm_first_payment: ConfirmFirst,
      },
      { description: 'The limits that the payer has set.' },
    ),
    created: Timestamp,
  },
  { title: 'Payer', description: 'The payer and the limits that the payer has set.' },
);

export const LimitsBody = Type.Object({
  per_payment: Type.Optional(Limit),
  per_day: Type.Optional(Limit),
  confirm_first_payment: Type.Optional(ConfirmFirst),
});

export const NonceSchema = Type.Object({
  nonce: Type.String({ description: 'For one EIP-4361 message.' }),
  expires_at: Timestamp,
});

export const SignInBody = Type.Object({
  message: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'The EIP-4361 message, exactly as it was signed.',
  }),
  signature: Signature,
});

export const SessionSchema = Type.Object(
  {
    object: objectType('payer_session'),
    token: Type.String({ description: 'Bearer token (tlps_…). Shown only once.' }),
    expires_at: Timestamp,
    payer: PayerSchema,
  },
  { title: 'PayerSession', description: 'The session of the wallet app.' },
);

/** Schema of a time in Unix seconds, which has 40 bits in the contract. */
const UnixSeconds = Type.Integer({
  minimum: 0,
  maximum: 2 ** 40 - 1,
  description: 'Unix seconds.',
});

/** Schema of a policy's limits, which have 48 bits in the contract. */
const Cap = Type.Integer({ minimum: 1, maximum: 2 ** 48 - 1, description: 'USDC atoms.' });

export const ApprovalBody = Type.Object({
  permit: Type.Optional(
    Type.Object(
      {
        value: Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'USDC atoms that the settlement contract may take in total.',
        }),
        deadline: UnixSeconds,
        signature: Signature,
      },
      { additionalProperties: false, description: 'An EIP-2612 permit.' },
    ),
  ),
  policy: Type.Optional(
    Type.Object(
      {
        per_payment: Cap,
        per_period: Cap,
        period_seconds: Type.Integer({
          minimum: 60,
          maximum: 2 ** 24 - 1,
          description: 'The length of a period, in seconds.',
        }),
        expires_at: UnixSeconds,
        max_fee_rate: Type.Integer({
          minimum: 0,
          maximum: 10_000,
          description: 'Basis points of acquirer and protocol fee together.',
        }),
        deadline: UnixSeconds,
        signature: Signature,
      },
      { additionalProperties: false, description: 'A standing spending policy.' },
    ),
  ),
});

export const PayerRequestSchema = Type.Object(
  {
    id: Type.String({ description: 'apv_…, fct_… or trf_…' }),
    object: oneOf(
      ['approval', 'faucet_grant', 'transfer'] as const,
      'The kind of job on the chain.',
    ),
    livemode: Type.Boolean({ description: 'false on the test network.' }),
    network: oneOf(['testnet', 'mainnet'] as const, 'The network.'),
    status: oneOf(['pending', 'succeeded', 'failed'] as const, '`pending` resolves by itself.'),
    failure_code: nullable(textOut('The reason it failed, or null. The list may grow.')),
    failure_message: nullable(textOut('The reason it failed and the remedy, in words; or null.')),
    tx_hash: nullable(textOut('The transaction; `null` if none was sent yet.')),
    created: Timestamp,
    updated: Timestamp,
  },
  {
    title: 'PayerRequest',
    description: 'A job on the chain for the payer, and its result.',
  },
);

const network = {
  livemode: Type.Boolean({ description: 'false on the test network.' }),
  network: oneOf(['testnet', 'mainnet'] as const, 'The network.'),
  chain_id: Type.Integer({ description: 'The id of the blockchain.' }),
  usdc: Address,
  usdc_domain: Type.Object(
    {
      name: textOut('The `name` of the domain.'),
      version: textOut('The `version` of the domain.'),
    },
    { description: 'The EIP-712 domain of the token, with chain_id and usdc.' },
  ),
  settlement: Address,
};

export const NetworkSchema = Type.Object(
  {
    object: objectType('network'),
    ...network,
    rpc_url: nullable(
      Type.String({
        format: 'uri',
        description: 'A public node of the chain that browsers may call; or null.',
      }),
    ),
    settlement_timeout_seconds: Type.Integer({
      description: 'A payment that could not be sent to the chain within this time has failed.',
    }),
    top_up: nullable(
      Type.Object(
        {
          url: Type.String({
            format: 'uri',
            description: 'Open it in a new tab with `noopener noreferrer`, and add nothing to it.',
          }),
          host: Type.String({ description: 'Its host in ASCII, to show beside the link.' }),
        },
        {
          description:
            "The operator's page (WALLET_TOP_UP_URL) where payers get USDC; `null` without one, " +
            'and always in test mode.',
        },
      ),
    ),
    pass_files: Type.Array(oneOf(['apple', 'google'] as const, 'A phone wallet.'), {
      maxItems: 2,
      uniqueItems: true,
      description: 'The phone wallets that the operator issues pass files for.',
    }),
  },
  { title: 'PayerNetwork', description: 'A network that is served, and the contracts on it.' },
);

const BasisPoints = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description: 'Basis points of the sale.',
});

const MessageToSign = Type.Object({
  typed_data: openObject('EIP-712: domain, types with `EIP712Domain`, primaryType and message.'),
  body: openObject('The same for `POST /approvals`, which also needs its `signature`.'),
});

const PolicySchema = nullable(
  Type.Object(
    {
      per_payment: AtomsOut,
      per_period: AtomsOut,
      period_seconds: Type.Integer({ description: 'The length of a period, in seconds.' }),
      spent: { ...AtomsOut, description: 'USDC atoms that were used in this period.' },
      expires_at: Timestamp,
      max_fee_rate: Type.Integer({
        description: 'The highest fees that it accepts, in basis points of the sale.',
      }),
    },
    { description: 'The spending policy on the contract; `null` if there is none.' },
  ),
);

export const WalletSchema = Type.Object(
  {
    object: objectType('wallet'),
    ...network,
    address: Address,
    balance: AtomsOut,
    allowance: AtomsOut,
    policy: PolicySchema,
    former: nullable(
      Type.Object(
        {
          settlement: Address,
          policy: PolicySchema,
          allowance: AtomsOut,
        },
        {
          description:
            'The policy on a previous settlement contract, while there is no policy on the ' +
            'current one: shops that have moved there need a new one. `null` if there was none.',
        },
      ),
    ),
    fee_rates: Type.Object(
      { acquirer: BasisPoints, protocol: BasisPoints, cashback: BasisPoints },
      {
        description:
          'The fees that the contract charges the payer on top of a sale, and the cashback; each ' +
          'is rounded down.',
      },
    ),
    nonces: Type.Object(
      {
        permit: nullable(
          Type.Integer({
            minimum: 0,
            description: 'The nonce of the next EIP-2612 permit; `null` if the token takes none.',
          }),
        ),
        policy: Type.Integer({
          minimum: 0,
          description: 'The nonce of the next spending policy.',
        }),
      },
      { description: 'The next nonces of the wallet, as the chain knows them.' },
    ),
    gasless: nullable(
      Type.Object(
        {
          left_today: Type.Integer({
            minimum: 0,
            description: 'The transfers that the operator still pays for on this UTC day.',
          }),
          least: { ...AtomsOut, description: 'The smallest transfer: USDC atoms.' },
        },
        {
          description:
            'Transfers whose gas the operator pays (`POST /transfers`); `null` if switched off.',
        },
      ),
    ),
    to_sign: Type.Object(
      {
        permit: nullable({
          ...MessageToSign,
          description:
            'Lets the settlement contract take USDC; `null` if the token takes no permits.',
        }),
        policy: { ...MessageToSign, description: 'Limits the amounts that it takes.' },
      },
      {
        description:
          'Both messages with suggested terms, ready for `eth_signTypedData_v4`. A payment ' +
          'needs both. To change a term, change it in the message and in the body.',
      },
    ),
    to_send: nullable(
      Type.Object(
        {
          to: { ...Address, description: 'The token.' },
          data: Type.String({
            maxLength: 138,
            description: '`approve` for the settlement contract.',
          }),
        },
        {
          description:
            'If the token takes no permits: the transaction that the wallet sends instead of ' +
            'one, as `eth_sendTransaction` takes it; the wallet pays the gas. `null` if a permit ' +
            'is enough.',
        },
      ),
    ),
  },
  {
    title: 'Wallet',
    description: "The wallet's balance and allowances, and the data that its next signatures need.",
  },
);

export const ConfirmationSchema = Type.Object(
  {
    object: objectType('confirmation'),
    livemode: Type.Boolean({ description: 'false on the test network.' }),
    network: oneOf(['testnet', 'mainnet'] as const, 'The network.'),
    payment_intent: idOf('pi_', 'payment intent'),
    status: Type.String({ description: 'The status of the payment intent.' }),
    account: idOf('acct_', 'account'),
    merchant_name: textOut('The name of the merchant.'),
    amount: { ...Amount, description: 'The amount to pay, sale and tip: USDC atoms.' },
    currency: Currency,
    presentment: TippedPresentment,
    tip: AtomsOut,
    order_id: textOut('The merchant’s order id.'),
    description: nullable(
      textOut('The description of the sale, in the merchant’s words; or null.'),
    ),
    reason_code: nullable(textOut('The rule that asks the payer, in capitals; or null.')),
    expires_at: nullable(Timestamp),
    payment: nullable(idOf('pay_', 'payment')),
    decline_code: nullable(textOut('The reason why the last attempt was declined, or null.')),
  },
  {
    title: 'Confirmation',
    description: 'A payment that waits for the payer, or its result.',
  },
);

const ResultSchema = Type.Object(
  {
    payment_intent: idOf('pi_', 'payment intent'),
    result: oneOf(['paid', 'declined'] as const, 'How the attempt to pay ended.'),
    merchant: textOut('The name of the merchant.'),
    presentment: TippedPresentment,
    total_charged: nullable({ ...AtomsOut, description: 'USDC atoms; `null` if declined.' }),
    receipt_url: nullable(
      Type.String({ format: 'uri', description: 'The receipt’s page; `null` if declined.' }),
    ),
    decline_code: nullable(textOut('The reason for the decline; `null` if paid.')),
  },
  { title: 'PaymentResult', description: 'A payment by a code or pass of the wallet, once ended.' },
);

export const UpdatesSchema = Type.Object(
  {
    confirmations: Type.Array(ConfirmationSchema, {
      description: 'Every payment that waits for the payer.',
    }),
    ended: Type.Array(ResultSchema, {
      description: 'The payments that ended since `after`, oldest first.',
    }),
    cursor: Type.String({ description: 'Send it as `after` in the next request.' }),
  },
  { title: 'WalletUpdates', description: 'What waits for the payer, and what has ended.' },
);

export const PayerPaymentSchema = Type.Object(
  {
    ...PaymentSchema.properties,
    merchant_name: Type.String({ description: 'The name of the merchant.' }),
  },
  { title: 'PayerPayment', description: 'A payment as its payer sees it.' },
);

/** An EIP-3009 TransferWithAuthorization with `validAfter` 0. */
export const TransferBody = Type.Object(
  {
    to: walletAddress(
      'The recipient. If it has letters in both cases, their case is checked (EIP-55).',
    ),
    amount: Type.Integer({
      minimum: LEAST_TRANSFER_ATOMS,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'USDC atoms, from 1000000.',
    }),
    valid_before: UnixSeconds,
    nonce: Type.String({
      pattern: '^0x[0-9a-fA-F]{64}$',
      description: '32 random bytes. Repeating a nonce repeats the same transfer.',
    }),
    signature: walletSignature(
      'The signature of the EIP-712 message: 65 bytes from a key, or of any length from a ' +
        'contract wallet.',
    ),
  },
  { description: 'The transfer that the wallet signed.' },
);

export const FaucetBody = Type.Object({
  amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_FAUCET_ATOMS,
      description: 'Test USDC atoms, 1 to 1000000000; default 100000000.',
    }),
  ),
});

/**
 * Query of a list that has only a few entries: payers rarely have more than two payments to
 * confirm.
 */
export const ConfirmationsQuery = Type.Object({
  wait: WaitParameter,
  known: Type.Optional(
    Type.String({
      maxLength: 1_000,
      pattern: '^(pi_[0-9A-Za-z]+(,pi_[0-9A-Za-z]+)*)?$',
      description:
        'With `wait`: the payment intents that the app already shows, separated by commas. ' +
        'The response is sent as soon as other payments wait.',
    }),
  ),
});

export const UpdatesQuery = Type.Object({
  wait: WaitParameter,
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'The `cursor` of the last response. Default: from now on.',
    }),
  ),
});
