import { atoms, ZERO } from '#core/money.ts';
import type { Payment } from '#payments/payment.ts';

/** The settlement time of `PAYMENT_ROW`. */
const SETTLED = new Date('2026-10-01T12:00:00.000Z');
export const UNTIL = new Date('2027-03-30T12:00:00.000Z');

/** A payment row for tests of pure decisions, which need no database. */
export const PAYMENT_ROW: Payment = {
  id: 'pay_1',
  recovered: false,
  account_id: 'acct_1',
  livemode: false,
  position: 1n,
  created: SETTLED,
  ahead_seconds: 0n,
  payment_intent_id: 'pi_1',
  terminal_id: 'tml_1',
  location_id: null,
  payer_id: 'pyr_1',
  payer_address: '0xaa',
  receipt_number: null,
  order_id: 'A-1',
  split_group: null,
  cashier_id: null,
  method_type: 'wallet_pass',
  credential_type: 'nfc_id',
  amount: atoms(2_500_000),
  tip: ZERO,
  presentment: null,
  lines: null,
  fee_acquirer: atoms(7_500),
  fee_protocol: atoms(5_000),
  fee_cashback: atoms(1_250),
  amount_reserved: ZERO,
  amount_refunded: ZERO,
  chain_id: 31_337n,
  settlement_number: 1n,
  batch_number: 1n,
  tx_hash: '0x01',
  block_number: 7n,
  log_index: 0,
  settled_at: SETTLED,
  refundable_until: UNTIL,
};
