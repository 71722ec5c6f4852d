import Type from 'typebox';
import { OrderId, PaymentIntentSchema, TipAmount, Tipping } from '#apis/merchant/payment-schema.ts';
import { TippedPresentment } from '#apis/merchant/presentment-schema.ts';
import {
  Amount,
  AtomsOut,
  nullable,
  objectType,
  oneOf,
  Timestamp,
  walletAddress,
  walletSignature,
} from '#http/schema.ts';
import { CANCELLATION_REASONS, INTENT_STATUSES } from '#payments/intent-rows.ts';

const Address = walletAddress();

export const ReceiptOfPayer = nullable(
  Type.String({
    format: 'uri',
    description:
      'Once the payment has succeeded. Only the response to the payer’s own signature has it.',
  }),
);

const Word = Type.String({ pattern: '^0x[0-9a-f]{64}$', description: '32 bytes in hex.' });

const TypedField = Type.Object({
  name: Type.String({ minLength: 1, description: 'The name of the field.' }),
  type: Type.String({ description: 'Its type.' }),
});

const TypedDataSchema = Type.Object(
  {
    domain: Type.Object(
      {
        name: Type.String({ minLength: 1, description: 'The name of the token.' }),
        version: Type.String({ minLength: 1, description: 'The version of the token.' }),
        chainId: Type.Integer({ minimum: 1, description: 'The chain.' }),
        verifyingContract: Address,
      },
      { description: 'The token.' },
    ),
    types: Type.Object(
      {
        EIP712Domain: Type.Array(TypedField, {
          description: 'The fields of the domain. ethers derives them: omit this type there.',
        }),
        ReceiveWithAuthorization: Type.Array(TypedField, {
          description: 'The fields of the message, in their order.',
        }),
      },
      { description: 'The fields of the domain, and of the message as EIP-3009 has them.' },
    ),
    primaryType: Type.Literal('ReceiveWithAuthorization', { description: 'The message to sign.' }),
    message: Type.Object(
      {
        from: Address,
        to: Address,
        value: Type.Integer({
          minimum: 1,
          description: 'The amount that leaves the wallet: `total_charged` minus the cashback.',
        }),
        validAfter: Type.Literal(0, { description: 'Valid immediately.' }),
        validBefore: Type.Integer({
          minimum: 1,
          description: 'Unix seconds: invalid from this time on.',
        }),
        nonce: Word,
      },
      {
        description:
          '`to` is the settlement contract. `nonce` is the keccak256 of the ABI encoding of the ' +
          'type hash of PaymentAuthorization(uint32 merchant,uint64 amount,uint64 number,' +
          'bytes8 orderId,bytes32 salt) and these five: recompute it before you sign.',
      },
    ),
  },
  { title: 'PaymentAuthorization', description: 'For eth_signTypedData_v4 (EIP-712).' },
);

export const PayLinkSchema = Type.Object(
  {
    object: objectType('pay_link'),
    status: oneOf(
      INTENT_STATUSES,
      'The status of the payment: requires_payment_method while it can be paid. The list may grow.',
    ),
    cancellation_reason: nullable(
      oneOf(CANCELLATION_REASONS, 'The reason why a canceled payment ended. The list may grow.'),
    ),
    merchant: Type.Object(
      {
        name: Type.String({ minLength: 1, description: 'The merchant that is paid.' }),
        number: nullable(Type.Integer({ description: 'The merchant’s number on the contract.' })),
      },
      { description: 'The merchant that is paid.' },
    ),
    amount: Amount,
    presentment: TippedPresentment,
    tip_amount: AtomsOut,
    tipping: nullable(Tipping),
    fees: Type.Object(
      { acquirer: AtomsOut, protocol: AtomsOut, cashback: AtomsOut },
      { description: 'Paid on top of amount and tip; the cashback is part of them.' },
    ),
    total_charged: Type.Integer({
      minimum: 1,
      description: 'Amount, tip, acquirer fee and protocol fee.',
    }),
    expires_at: Timestamp,
    network: oneOf(['testnet', 'mainnet'] as const, 'The network on which it is paid.'),
    chain_id: Type.Integer({ minimum: 1, description: 'The id of the blockchain.' }),
    usdc: Address,
    settlement: Address,
    order_id: OrderId,
    number: Type.Integer({
      minimum: 1,
      description: 'The settlement number of the payment on the contract.',
    }),
    salt: nullable(Word),
    typed_data: {
      ...nullable(TypedDataSchema),
      description: 'The data that the wallet signs; `null` if the request named no wallet.',
    },
  },
  { title: 'PayLink', description: 'The cost of a payment, and its status.' },
);

export const PayLinkQuery = Type.Object({
  from: Type.Optional(
    walletAddress('The paying wallet: with it the response includes `typed_data`.'),
  ),
  tip_amount: Type.Optional(TipAmount),
});

/** Errors of submitting a wallet's signature, the same for pay links, tags and tills. */
export const AUTHORIZATION_ERRORS = [
  'resource_missing',
  'signature_invalid',
  'wallet_not_deployed',
  'rate_limit_exceeded',
  'payment_intent_unexpected_state',
  'terminal_inactive',
  'account_not_live',
  'kyb_required',
  'service_unavailable',
] as const;

export const AuthorizationBody = Type.Object({
  from: Address,
  signature: walletSignature(
    'Over `typed_data`: 65 bytes from a key, or of any length for a contract wallet (ERC-1271).',
  ),
  tip_amount: Type.Optional(TipAmount),
});

export const PayOutcomeSchema = Type.Object(
  { ...PaymentIntentSchema.properties, receipt_url: ReceiptOfPayer },
  {
    title: 'PayOutcome',
    description: 'The payment intent, for the payer who signed it.',
  },
);
