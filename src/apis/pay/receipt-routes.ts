import Type from 'typebox';
import { PaymentSchema } from '#apis/merchant/payment-schema.ts';
import type { PayCaller } from '#apis/pay/pay-caller.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import type { IdKey } from '#core/ids.ts';
import { type Network, networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { Database } from '#db/database.ts';
import { defineRoute } from '#http/route.ts';
import { Amount, AtomsOut, commonFields, nullable, oneOf, Timestamp } from '#http/schema.ts';
import { type Receipt, selectReceipt } from '#payments/receipt-queries.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { findReceipt } from '#payments/receipt-url.ts';
import { contractOf, numberOnContract } from '#settlement/editions.ts';
import type { NetworkConfig } from '#settlement/networks.ts';

export interface ReceiptDeps {
  readonly db: Database;
  readonly idKey: IdKey;
  readonly receipts: ReceiptPages;
  readonly chains: readonly { readonly config: NetworkConfig }[];
  /** A node of this network that browsers may call; `null` if there is none. */
  readonly publicNode: (network: Network) => string | null;
}

const { tx_hash: TxHash, chain_id, block_number, log_index } = PaymentSchema.properties;
const HexAddress = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'On the chain.' });

const ProofSchema = Type.Object(
  {
    chain_id,
    settlement: HexAddress,
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
    batch: Type.Integer({ minimum: 0, description: 'The number of its batch on the contract.' }),
    merchant: nullable(
      Type.Integer({ minimum: 0, description: 'The merchant’s number on the contract.' }),
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
  { description: 'Where to verify it on the chain. `npm run receipt` and the page do so.' },
);

export const ReceiptSchema = Type.Object(
  {
    ...commonFields('receipt'),
    merchant: Type.Object(
      { name: Type.String({ minLength: 1, description: 'The merchant that was paid.' }) },
      { description: 'The merchant that was paid.' },
    ),
    receipt_number: PaymentSchema.properties.receipt_number,
    order_id: PaymentSchema.properties.order_id,
    description: nullable(
      Type.String({ description: 'The description of the sale, in the merchant’s words.' }),
    ),
    sale: Amount,
    tip: AtomsOut,
    amount: PaymentSchema.properties.amount,
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
        status: oneOf(['pending', 'succeeded'] as const, 'Failed refunds are omitted.'),
        tx_hash: nullable(TxHash),
        receipt_number: PaymentSchema.properties.receipt_number,
        created: Timestamp,
      }),
      { description: 'Oldest first.' },
    ),
    currency: PaymentSchema.properties.currency,
    payer: Type.String({ minLength: 1, description: 'The payer’s address, shortened.' }),
    payment_method: PaymentSchema.properties.payment_method,
    settled_at: Timestamp,
    time_zone: Type.String({ minLength: 1, description: 'The shop’s time zone: an IANA name.' }),
    proof: ProofSchema,
  },
  { title: 'Receipt', description: 'A paid payment, as its receipt shows it.' },
);

export const RECEIPT_EXAMPLE = {
  object: 'receipt',
  livemode: false,
  network: 'testnet',
  merchant: { name: 'Blue Door Café' },
  receipt_number: 'K7XQM-1042',
  order_id: 'A-1001',
  description: 'Two flat whites',
  sale: 2500000,
  tip: 250000,
  amount: 2750000,
  fees: { acquirer: 8250, protocol: 5500, cashback: 1375 },
  total_charged: 2763750,
  paid: 2762375,
  amount_refunded: 0,
  refunds: [],
  currency: 'usdc',
  payer: '0x5b38…ddC4',
  payment_method: { type: 'wallet_pass', credential: 'nfc_id' },
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

/** Long enough for the payer to recognize it, too short to look it up. */
export function shortened(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Shown if this process serves no network of that mode. */
const NO_CONTRACT = `0x${'0'.repeat(40)}`;

export type ShownReceipt = ReturnType<typeof renderReceipt>;

function renderReceipt(receipt: Receipt, chain: NetworkConfig | undefined, rpcUrl: string | null) {
  const { payment, refunds, merchantNumber: number } = receipt;
  const { amount, tip, fees, payerAddress, place } = payment;
  const { livemode } = payment.tenant;
  return {
    object: 'receipt',
    livemode,
    network: networkOf(livemode),
    merchant: { name: receipt.merchantName },
    receipt_number: payment.receiptNumber,
    order_id: payment.orderId,
    description: receipt.description,
    sale: toJsonAtoms(amount - tip),
    tip: toJsonAtoms(tip),
    amount: toJsonAtoms(amount),
    fees: {
      acquirer: toJsonAtoms(fees.acquirer),
      protocol: toJsonAtoms(fees.protocol),
      cashback: toJsonAtoms(fees.cashback),
    },
    total_charged: toJsonAtoms(payment.totalCharged),
    paid: toJsonAtoms(payment.totalCharged - fees.cashback),
    amount_refunded: toJsonAtoms(payment.amountRefunded),
    refunds: refunds.map((refund) => ({
      amount: toJsonAtoms(refund.amount),
      status: refund.status,
      tx_hash: refund.tx_hash,
      receipt_number: refund.receipt_number,
      created: refund.created.toISOString(),
    })),
    currency: 'usdc',
    payer: shortened(payerAddress),
    payment_method: { ...payment.method },
    settled_at: payment.settledAt.toISOString(),
    time_zone: receipt.timeZone,
    proof: {
      chain_id: payment.chainId,
      settlement: chain === undefined ? NO_CONTRACT : contractOf(chain, number ?? 0n),
      tx_hash: place.txHash,
      block_number: Number(place.blockNumber),
      log_index: place.logIndex,
      event: 'PaymentSettled',
      number: Number(payment.settlementNumber),
      batch: Number(payment.batchNumber),
      merchant: number === null ? null : numberOnContract(number),
      rpc_url: rpcUrl,
      explorer_url: chain?.explorerUrl ? `${chain.explorerUrl}/tx/${place.txHash}` : null,
    },
  };
}

/** The receipt of this token; `null` if there is none. */
export async function readReceipt(
  { db, idKey, chains, publicNode }: ReceiptDeps,
  token: string,
): Promise<ShownReceipt | null> {
  const wanted = findReceipt(idKey, token);
  const receipt = wanted && (await selectReceipt(db, wanted));
  if (wanted === null || receipt === null) return null;
  const chain = chains.find(({ config }) => config.livemode === wanted.livemode);
  return renderReceipt(receipt, chain?.config, publicNode(networkOf(wanted.livemode)));
}

/** The receipt's data, which its page shows and `npm run receipt` verifies. */
export function receiptRoute(deps: ReceiptDeps) {
  return defineRoute<PayCaller>({
    method: 'GET',
    path: '/receipts/{token}',
    operationId: 'retrieveReceipt',
    moves: 'nothing',
    tag: 'Receipts',
    summary: 'Retrieve a paid payment by the address of its receipt',
    description:
      'The token is the last part of a payment’s `receipt_url`. The same data is at that address ' +
      'with `.json` appended, and with `.txt` as text for a printer (`width` 32 or 48).',
    scope: null,
    idempotency: 'ignored',
    params: { token: 'text' },
    responses: {
      200: { schema: ReceiptSchema, description: 'The receipt.', example: RECEIPT_EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const receipt = await readReceipt(deps, params.token ?? '');
      return receipt === null ? resourceMissing('receipt') : answerWith(200, receipt);
    },
  });
}
