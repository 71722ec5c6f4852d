import Type from 'typebox';
import { eventCatalog } from '#apis/merchant/event-catalog.ts';
import { OFFLINE_PAYMENT_EXAMPLE, OfflinePaymentSchema } from '#apis/merchant/offline-schema.ts';
import { PaymentIntentSchema, PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { ShopRate } from '#apis/merchant/presentment-schema.ts';
import { REFUND_EXAMPLE, RefundSchema } from '#apis/merchant/refund-schema.ts';
import { SHIFT_REPORT_EXAMPLE, ShiftReportSchema } from '#apis/merchant/shift-schema.ts';
import { TERMINAL_EXAMPLE, TerminalSchema } from '#apis/merchant/terminal-schema.ts';
import { ENDPOINT_EXAMPLE, EndpointSchema } from '#apis/merchant/webhook-schema.ts';
import type { DeclaredWebhook } from '#http/openapi.ts';
import {
  Amount,
  Currency,
  commonFields,
  idOf,
  nullable,
  objectType,
  oneOf,
  Timestamp,
} from '#http/schema.ts';
import { PAYMENT_EXAMPLE, PAYMENT_INTENT_EXAMPLE } from '#payments/api-examples.ts';

/** Only events contain these three objects; the merchant API has no routes for them. */
const AccountSchema = Type.Object(
  {
    id: idOf('acct_', 'account'),
    ...commonFields('account'),
    kyb_status: oneOf(['none', 'pending', 'approved', 'rejected'], 'The list may grow.'),
    reason: nullable(Type.String({ description: 'The reason for the decision.' })),
    updated: Timestamp,
  },
  { title: 'Account' },
);

const ACCOUNT_EXAMPLE = {
  id: 'acct_01QzXnyWbB0mJr6vGq2Lk9',
  object: 'account',
  livemode: false,
  network: 'testnet',
  kyb_status: 'approved',
  reason: null,
  updated: '2026-10-01T12:00:21.000Z',
} as const;

const ExportSchema = Type.Object(
  {
    object: objectType('export'),
    url: Type.String({
      format: 'uri',
      description: 'Downloads the statement without a session, until `expires_at`.',
    }),
    format: Type.String({ description: 'The format of the statement. The list may grow.' }),
    from: Type.String({ description: 'The first day, YYYY-MM-DD.' }),
    to: Type.String({ description: 'The last day, YYYY-MM-DD.' }),
    entries: Type.Integer({ minimum: 0, description: 'The number of its entries.' }),
    expires_at: Timestamp,
  },
  { title: 'Export' },
);

const EXPORT_EXAMPLE = {
  object: 'export',
  url: 'https://pay.example.com/api/dashboard/v1/exports/tlel_example',
  format: 'camt.053.001.08',
  from: '2026-09-01',
  to: '2026-09-30',
  entries: 214,
  expires_at: '2026-10-08T00:00:02.000Z',
} as const;

const WithdrawalSchema = Type.Object(
  {
    id: idOf('wdr_', 'withdrawal'),
    ...commonFields('withdrawal'),
    amount: Amount,
    currency: Currency,
    shop_rate: ShopRate,
    status: oneOf(['pending', 'succeeded', 'failed'], 'The amount of the withdrawal.'),
    wallet: Type.String({ description: 'The settlement wallet.' }),
    failure_code: nullable(Type.String({ description: 'The reason why it failed.' })),
    tx_hash: nullable(Type.String({ description: 'Hash of the transaction.' })),
    automatic: Type.Boolean({ description: 'True if the service requested it automatically.' }),
    period: nullable(
      Type.String({ description: 'The first day of the period that it ends, YYYY-MM-DD.' }),
    ),
    created: Timestamp,
    updated: Timestamp,
  },
  { title: 'Withdrawal' },
);

const WITHDRAWAL_EXAMPLE = {
  id: 'wdr_01QzXo1SdW6tWR3qXn9Uo4',
  object: 'withdrawal',
  livemode: false,
  network: 'testnet',
  amount: 250000000,
  currency: 'usdc',
  shop_rate: null,
  status: 'succeeded',
  wallet: PAYMENT_EXAMPLE.payer,
  failure_code: null,
  tx_hash: PAYMENT_EXAMPLE.tx_hash,
  automatic: false,
  period: null,
  created: '2026-10-01T12:00:00.000Z',
  updated: '2026-10-01T12:00:21.000Z',
} as const;

export function merchantWebhooks(): DeclaredWebhook[] {
  const catalog = eventCatalog({
    payment_intent: { schema: PaymentIntentSchema, example: PAYMENT_INTENT_EXAMPLE },
    payment: { schema: PaymentSchema, example: PAYMENT_EXAMPLE },
    refund: { schema: RefundSchema, example: REFUND_EXAMPLE },
    offline_payment: { schema: OfflinePaymentSchema, example: OFFLINE_PAYMENT_EXAMPLE },
    terminal: { schema: TerminalSchema, example: TERMINAL_EXAMPLE },
    withdrawal: { schema: WithdrawalSchema, example: WITHDRAWAL_EXAMPLE },
    kyb: { schema: AccountSchema, example: ACCOUNT_EXAMPLE },
    export: { schema: ExportSchema, example: EXPORT_EXAMPLE },
    shift: { schema: ShiftReportSchema, example: SHIFT_REPORT_EXAMPLE },
    webhook_endpoint: { schema: EndpointSchema, example: ENDPOINT_EXAMPLE },
  });
  return catalog.map(({ type, when, schema, example }) => ({
    type,
    summary: when,
    schema,
    example,
  }));
}
