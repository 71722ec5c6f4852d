import { assertNever } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import { type Atoms, add, atoms } from '#core/money.ts';
import { as, type Row, table } from '#db/table.ts';
import type { PaidQuote } from '#prices/quote-price.ts';
import type { SaleLines } from '#prices/sale-lines.ts';

export const PAYMENT_STATUSES = ['succeeded', 'partially_refunded', 'refunded'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export type PaymentMethod =
  | {
      readonly type: 'wallet_pass';
      readonly credential:
        | 'nfc_id'
        | 'nfc_sun'
        | 'qr'
        | 'rotating_code'
        | 'smart_tap'
        | 'apple_vas';
    }
  | { readonly type: 'agent_token'; readonly credential: 'agent_token' }
  | { readonly type: 'wallet'; readonly credential: 'authorization' | 'chip' }
  | { readonly type: 'unknown'; readonly credential: 'unknown' };

/** A settled payment: facts from the chain, and its refunded amount. */
export interface Payment {
  readonly id: string;
  /** True if the database lost the payment and recovery rebuilt it from the chain. */
  readonly recovered: boolean;
  readonly tenant: Tenant;
  readonly position: bigint;
  /** The time of creation by the account's clock, which `settledAt` also uses. */
  readonly created: Date;
  /** Lead of the account's clock over the service's clock, which `refundableUntil` uses. */
  readonly aheadSeconds: number;
  readonly paymentIntentId: string;
  readonly terminalId: string;
  /** The intent's. */
  readonly locationId: string | null;
  readonly payerId: string;
  readonly payerAddress: string;
  readonly orderId: string;
  /**
   * The number `<prefix>-<n>` in its terminal's series; `null` for a payment from a release without
   * receipt numbers.
   */
  readonly receiptNumber: string | null;
  readonly splitGroup: string | null;
  /** The user who was signed in at the till; `null` if there was none. */
  readonly cashierId: string | null;
  readonly method: PaymentMethod;
  /** Sale and tip together. */
  readonly amount: Atoms;
  readonly tip: Atoms;
  /** The quote in the shop's currency; `null` for a sale in USDC and for a rebuilt payment. */
  readonly presentment: PaidQuote | null;
  /** The lines of the intent; `null` if it has none, and for a rebuilt payment. */
  readonly lines: SaleLines | null;
  readonly fees: { readonly acquirer: Atoms; readonly protocol: Atoms; readonly cashback: Atoms };
  /** The amount that the payer paid: the sale and the fees, before cashback. */
  readonly totalCharged: Atoms;
  /** The sum of pending and succeeded refunds; never more than the amount. */
  readonly amountReserved: Atoms;
  readonly amountRefunded: Atoms;
  readonly status: PaymentStatus;
  readonly chainId: number;
  readonly settlementNumber: bigint;
  readonly batchNumber: bigint;
  readonly place: {
    readonly txHash: string;
    readonly blockNumber: bigint;
    readonly logIndex: number;
  };
  readonly settledAt: Date;
  readonly refundableUntil: Date;
}

export const payments = table('payments', {
  id: 'text',
  recovered: 'boolean',
  account_id: 'text',
  livemode: 'boolean',
  position: 'bigint',
  created: 'timestamptz',
  ahead_seconds: 'bigint',
  payment_intent_id: 'text',
  terminal_id: 'text',
  location_id: 'text?',
  payer_id: 'text',
  payer_address: 'text',
  order_id: 'text',
  receipt_number: 'text?',
  split_group: 'text?',
  cashier_id: 'text?',
  method_type: as<PaymentMethod['type']>('text'),
  credential_type: as<PaymentMethod['credential']>('text'),
  amount: 'bigint',
  tip: 'bigint',
  presentment: as<PaidQuote | null>('jsonb?'),
  lines: as<SaleLines | null>('jsonb?'),
  fee_acquirer: 'bigint',
  fee_protocol: 'bigint',
  fee_cashback: 'bigint',
  amount_reserved: 'bigint',
  amount_refunded: 'bigint',
  chain_id: 'bigint',
  settlement_number: 'bigint',
  batch_number: 'bigint',
  tx_hash: 'text',
  block_number: 'bigint',
  log_index: 'int',
  settled_at: 'timestamptz',
  refundable_until: 'timestamptz',
});

export type PaymentRow = Row<typeof payments>;

/** Derives the status from the amounts. It is not stored, so it cannot contradict them. */
export function paymentStatus(amount: bigint, refunded: bigint): PaymentStatus {
  if (refunded === 0n) return 'succeeded';
  return refunded < amount ? 'partially_refunded' : 'refunded';
}

export function methodOf(credential: PaymentMethod['credential']): PaymentMethod {
  switch (credential) {
    case 'nfc_id':
    case 'nfc_sun':
    case 'qr':
    case 'rotating_code':
    case 'smart_tap':
    case 'apple_vas':
      return { type: 'wallet_pass', credential };
    case 'authorization':
    case 'chip':
      return { type: 'wallet', credential };
    case 'agent_token':
    case 'unknown':
      return { type: credential, credential } as PaymentMethod;
    default:
      return assertNever(credential);
  }
}

export function toPayment(row: PaymentRow): Payment {
  const fees = {
    acquirer: atoms(row.fee_acquirer),
    protocol: atoms(row.fee_protocol),
    cashback: atoms(row.fee_cashback),
  };
  const amount = atoms(row.amount);
  return {
    id: row.id,
    recovered: row.recovered,
    tenant: { accountId: row.account_id, livemode: row.livemode },
    position: row.position,
    created: row.created,
    aheadSeconds: Number(row.ahead_seconds),
    paymentIntentId: row.payment_intent_id,
    terminalId: row.terminal_id,
    locationId: row.location_id,
    payerId: row.payer_id,
    payerAddress: row.payer_address,
    orderId: row.order_id,
    receiptNumber: row.receipt_number,
    splitGroup: row.split_group,
    cashierId: row.cashier_id,
    method: methodOf(row.credential_type),
    amount,
    tip: atoms(row.tip),
    presentment: row.presentment,
    lines: row.lines,
    fees,
    totalCharged: add(amount, fees.acquirer, fees.protocol),
    amountReserved: atoms(row.amount_reserved),
    amountRefunded: atoms(row.amount_refunded),
    status: paymentStatus(row.amount, row.amount_refunded),
    chainId: Number(row.chain_id),
    settlementNumber: row.settlement_number,
    batchNumber: row.batch_number,
    place: { txHash: row.tx_hash, blockNumber: row.block_number, logIndex: row.log_index },
    settledAt: row.settled_at,
    refundableUntil: row.refundable_until,
  };
}
