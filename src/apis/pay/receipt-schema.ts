import Type from 'typebox';
import { PaymentSchema } from '#apis/merchant/payment-schema.ts';
import {
  Amount,
  AtomsOut,
  commonFields,
  nullable,
  oneOf,
  openObject,
  Timestamp,
  walletAddress,
} from '#http/schema.ts';

const { tx_hash: TxHash, chain_id, block_number, log_index } = PaymentSchema.properties;

const ProofSchema = Type.Object(
  {
    chain_id,
    settlement: walletAddress('An address on the chain.'),
    tx_hash: TxHash,
    block_number,
    log_index,
    event: Type.Literal('PaymentSettled', {
      description:
        'PaymentSettled(uint64 indexed number, address indexed payer, bytes17 terms, uint256 ' +
        'charges). terms: merchant (4 bytes), amount (5), order id (8). charges: batch, acquirer ' +
        'fee, protocol fee and cashback, 8 bytes each.',
    }),
    number: Type.Integer({
      minimum: 1,
      description: 'The settlement number of the payment on the contract.',
    }),
    batch: Type.Integer({
      minimum: 0,
      description: 'The number of its batch on the contract.',
    }),
    merchant: nullable(
      Type.Integer({
        minimum: 0,
        description: 'The merchant’s number on the contract.',
      }),
    ),
    rpc_url: nullable(
      Type.String({
        description: 'A public node: the one that the operator names, or in a sandbox its own.',
      }),
    ),
    explorer_url: nullable(
      Type.String({
        description: 'The transaction in a block explorer, if the operator names one.',
      }),
    ),
  },
  {
    description: 'Where to verify it on the chain. `npm run receipt` and the page do so.',
  },
);

const ShopText = (description: string) => nullable(Type.String({ description }));

const MerchantSchema = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      description: 'The name that payers see.',
    }),
    legal_name: ShopText('The registered name of the business, or null.'),
    address: ShopText('The address of the business, or null.'),
    tax_number: ShopText('The tax number of the business, or null.'),
    location: nullable(
      Type.Object(
        {
          name: Type.String({ minLength: 1, description: 'The name of the location.' }),
          address: ShopText('The address of the location, or null.'),
        },
        { description: 'Where the sale was made; `null` for a sale at no location.' },
      ),
    ),
  },
  { description: 'The merchant that was paid.' },
);

const minor = (description: string) =>
  Type.Integer({ description: `${description} Minor units, or atoms.` });

const BasisPoints = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description: 'Basis points.',
});

const TaxSchema = Type.Object(
  {
    rate: BasisPoints,
    net: minor('The sum before tax.'),
    tax: minor('The tax.'),
    gross: minor('The sum with tax.'),
  },
  { description: 'The lines with one tax rate, added up.' },
);

export const ReceiptSchema = Type.Object(
  {
    ...commonFields('receipt'),
    merchant: MerchantSchema,
    receipt_number: PaymentSchema.properties.receipt_number,
    fiscal: nullable(
      Type.Object(
        {
          signature: ShopText('The signature, or null until the signer has answered.'),
          text: ShopText('The signer’s text for the receipt, or null.'),
        },
        { description: 'The response of the account’s fiscal signer; `null` if it has none.' },
      ),
    ),
    order_id: PaymentSchema.properties.order_id,
    description: nullable(
      Type.String({
        description: 'The description of the sale, in the merchant’s words.',
      }),
    ),
    sale: Amount,
    tip: AtomsOut,
    amount: PaymentSchema.properties.amount,
    presentment: PaymentSchema.properties.presentment,
    line_items: PaymentSchema.properties.line_items,
    discount: PaymentSchema.properties.discount,
    discount_rate: PaymentSchema.properties.discount_rate,
    discount_name: PaymentSchema.properties.discount_name,
    taxes: Type.Array(TaxSchema, {
      description:
        'One row per rate, the lowest first; a rate of 0 is listed. In minor units of the ' +
        'currency of `presentment`, or atoms without one. Empty without lines.',
    }),
    taxes_left: Type.Array(TaxSchema, {
      description: 'What is left of each row of `taxes` after the refunds.',
    }),
    fees: PaymentSchema.properties.fees,
    total_charged: PaymentSchema.properties.total_charged,
    paid: Type.Integer({
      minimum: 0,
      description: 'The amount that left the wallet: `total_charged` minus the cashback.',
    }),
    amount_refunded: AtomsOut,
    refunds: Type.Array(
      Type.Object({
        amount: Amount,
        presentment: nullable(openObject('The amount in the shop’s currency, as on the refund.')),
        status: oneOf(['pending', 'succeeded'] as const, 'Failed refunds are omitted.'),
        tx_hash: nullable(TxHash),
        receipt_number: PaymentSchema.properties.receipt_number,
        receipt_url: nullable(
          Type.String({
            format: 'uri',
            description: 'The refund’s own receipt; null until it has succeeded.',
          }),
        ),
        created: Timestamp,
      }),
      { description: 'Oldest first.' },
    ),
    currency: PaymentSchema.properties.currency,
    payer: Type.String({
      minLength: 1,
      description: 'The payer’s address, shortened.',
    }),
    payment_method: PaymentSchema.properties.payment_method,
    tx_hash: TxHash,
    accepted_offline_at: nullable({
      ...Timestamp,
      description:
        'When an offline till accepted the sale, by its clock; `null` for all other sales.',
    }),
    settled_at: Timestamp,
    time_zone: Type.String({
      minLength: 1,
      description: 'The shop’s time zone: an IANA name.',
    }),
    proof: ProofSchema,
  },
  { title: 'Receipt', description: 'A paid payment, as its receipt shows it.' },
);

export const RECEIPT_EXAMPLE = {
  object: 'receipt',
  livemode: false,
  network: 'testnet',
  merchant: {
    name: 'Blue Door Café',
    legal_name: 'Porta Azul, Lda.',
    address: 'Rua da Rosa 14, 1200-386 Lisboa',
    tax_number: 'PT500123456',
    location: { name: 'Chiado', address: 'Rua Garrett 2, 1200-203 Lisboa' },
  },
  receipt_number: 'K7XQM-1042',
  fiscal: null,
  order_id: 'A-1001',
  description: 'Two flat whites',
  sale: 2500000,
  tip: 250000,
  amount: 2750000,
  presentment: null,
  line_items: [
    {
      name: 'Flat white',
      quantity: 2,
      unit_amount: 1250000,
      tax_rate: 1300,
      tax_inclusive: true,
      discount: 0,
      discount_rate: null,
      discount_name: null,
      item: null,
      category: null,
    },
  ],
  discount: 0,
  discount_rate: null,
  discount_name: null,
  taxes: [{ rate: 1300, net: 2212389, tax: 287611, gross: 2500000 }],
  taxes_left: [{ rate: 1300, net: 2212389, tax: 287611, gross: 2500000 }],
  fees: { acquirer: 8250, protocol: 5500, cashback: 1375 },
  total_charged: 2763750,
  paid: 2762375,
  amount_refunded: 0,
  refunds: [],
  currency: 'usdc',
  payer: '0x5b38…ddC4',
  payment_method: { type: 'wallet_pass', credential: 'nfc_id' },
  tx_hash: '0x8f0b2c6d1e4a7f3905c8b1d2e6f7a4093b5c6d7e8f901a2b3c4d5e6f708192a3',
  accepted_offline_at: null,
  settled_at: '2026-10-01T12:00:21.000Z',
  time_zone: 'UTC',
  proof: {
    chain_id: 31337,
    settlement: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    tx_hash: '0x8f0b2c6d1e4a7f3905c8b1d2e6f7a4093b5c6d7e8f901a2b3c4d5e6f708192a3',
    block_number: 1204,
    log_index: 3,
    event: 'PaymentSettled',
    number: 1048577,
    batch: 12,
    merchant: 7,
    rpc_url: null,
    explorer_url: null,
  },
} as const;
