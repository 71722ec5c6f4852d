import { assertNever } from '#core/assert.ts';
import { type Atoms, add, subtract } from '#core/money.ts';
import { as, type Row, table } from '#db/table.ts';
import type { PaidQuote } from '#prices/quote-price.ts';
import { type RateTax, type SaleLines, taxTable } from '#prices/sale-lines.ts';

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

export const payments = table('payments', {
  id: 'text',
  /** True if the database lost the payment and recovery rebuilt it from the chain. */
  recovered: 'boolean',
  account_id: 'text',
  livemode: 'boolean',
  position: 'bigint',
  /** The time of creation by the account's clock, which `settled_at` also uses. */
  created: 'timestamptz',
  /** Lead of the account's clock over the service's clock, which `refundable_until` uses. */
  ahead_seconds: 'bigint',
  payment_intent_id: 'text',
  terminal_id: 'text',
  /** The intent's. */
  location_id: 'text?',
  payer_id: 'text',
  payer_address: 'text',
  order_id: 'text',
  /**
   * The number `<prefix>-<n>` in its terminal's series; `null` for a payment from a release without
   * receipt numbers.
   */
  receipt_number: 'text?',
  split_group: 'text?',
  /** The user who was signed in at the till; `null` if there was none. */
  cashier_id: 'text?',
  method_type: as<PaymentMethod['type']>('text'),
  credential_type: as<PaymentMethod['credential']>('text'),
  /** Sale and tip together. */
  amount: as<Atoms>('bigint'),
  tip: as<Atoms>('bigint'),
  /** The quote in the shop's currency; `null` for a sale in USDC and for a rebuilt payment. */
  presentment: as<PaidQuote | null>('jsonb?'),
  /** The lines of the intent; `null` if it has none, and for a rebuilt payment. */
  lines: as<SaleLines | null>('jsonb?'),
  /** Read it with `paymentTaxes`. */
  taxes: as<readonly RateTax[] | null>('jsonb?'),
  /** USDC for one unit of the shop's currency at the time of booking, as decimal text. */
  shop_rate: 'text?',
  fee_acquirer: as<Atoms>('bigint'),
  fee_protocol: as<Atoms>('bigint'),
  fee_cashback: as<Atoms>('bigint'),
  /** The sum of pending and succeeded refunds; never more than the amount. */
  amount_reserved: as<Atoms>('bigint'),
  amount_refunded: as<Atoms>('bigint'),
  chain_id: 'bigint',
  settlement_number: 'bigint',
  batch_number: 'bigint',
  tx_hash: 'text',
  block_number: 'bigint',
  log_index: 'int',
  settled_at: 'timestamptz',
  refundable_until: 'timestamptz',
});

/** A settled payment: facts from the chain, and its refunded amount. */
export type Payment = Readonly<Row<typeof payments>>;

/** Derives the status from the amounts. It is not stored, so it cannot contradict them. */
export function paymentStatus(payment: Pick<Payment, 'amount' | 'amount_refunded'>): PaymentStatus {
  const { amount, amount_refunded: refunded } = payment;
  if (refunded === 0n) return 'succeeded';
  return refunded < amount ? 'partially_refunded' : 'refunded';
}

/**
 * Returns a sale's tax table; `null` for a sale without lines. An earlier release may have stored
 * the lines alone.
 */
export function paymentTaxes({
  taxes,
  lines,
}: Pick<Payment, 'taxes' | 'lines'>): readonly RateTax[] | null {
  return taxes ?? (lines === null ? null : taxTable(lines));
}

/** Returns the amount that the payer paid: the sale and the fees, before cashback. */
export function totalCharged({ amount, fee_acquirer, fee_protocol }: Payment): Atoms {
  return add(amount, fee_acquirer, fee_protocol);
}

/** Returns the atoms that left the payer's wallet. */
export function paidFor(payment: Payment): Atoms {
  return subtract(totalCharged(payment), payment.fee_cashback);
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
