import type { Tenant } from '#core/mode.ts';
import { shownAs } from '#core/money.ts';
import type { Sql } from '#db/database.ts';
import { type Branch, type Condition, type Page, selectPage, TENANT_KEY } from '#db/paging.ts';
import { wholeKey } from '#db/plan-shapes.ts';
import {
  type IntentRow,
  type PaymentIntent,
  paymentIntents,
  toIntent,
} from '#payments/intent-rows.ts';
import { type Payment, payments } from '#payments/payment.ts';
import { asOf } from '#payments/payment-intent.ts';

export interface PaymentSearch {
  readonly txHash: string | null;
  /** Only payments of this intent; `null` for all. */
  readonly intentId: string | null;
  readonly amount: bigint | null;
  readonly payerId: string | null;
  readonly terminalId: string | null;
}

/**
 * Returns the index ranges to read. One range has the payments with exactly this amount, in list
 * order, however many there are. The others have the few payments whose amounts only round to it.
 */
function anyOf({ amount, intentId }: PaymentSearch): readonly Branch[] {
  const ofIntent: Condition[] =
    intentId === null ? [] : [{ sql: 'payment_intent_id = ?', value: intentId }];
  if (amount === null) {
    return [intentId === null ? { conditions: [] } : { conditions: ofIntent, key: 'few' }];
  }
  const { least, most } = shownAs(amount);
  const few = (...conditions: readonly Condition[]): Branch => ({ conditions, key: 'few' });
  const exact: Branch = {
    conditions: [{ sql: 'amount = ?', value: amount }],
    key: AMOUNT_KEY,
    values: { amount },
  };
  const same: Branch[] = [exact];
  if (least < amount) {
    same.push(
      few({ sql: 'amount >= ?', value: least }, { sql: 'amount < ?', value: amount }),
      few({ sql: 'amount > ?', value: amount }, { sql: 'amount <= ?', value: most }),
    );
  }
  if (intentId === null) return same;
  const below = few(...ofIntent, { sql: 'amount < ?', value: least });
  const above = few(...ofIntent, { sql: 'amount > ?', value: most });
  return [...same, below, above];
}

const AMOUNT_KEY = ['amount', ...TENANT_KEY] as const;
const INDEXES = {
  tx_hash: { columns: ['tx_hash'], ordered: false },
  payer_id: { columns: ['payer_id'], ordered: false },
  terminal_id: { columns: ['terminal_id'], ordered: true },
} as const;

/** Finds payments by any combination of filters. Each filter has an index. */
export async function searchPayments(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly search: PaymentSearch },
  page: Page,
): Promise<Payment[]> {
  const { search, tenant } = filter;
  const filters = {
    tx_hash: search.txHash,
    payer_id: search.payerId,
    terminal_id: search.terminalId,
  };
  const list = {
    table: 'payments',
    columns: payments.columns,
    filters,
    indexes: INDEXES,
    anyOf: anyOf(search),
  };
  return selectPage<Payment>(sql, list, tenant, page);
}

/** Returns the intent with this order ID, which is unique per account and mode. */
export async function selectIntentIdByOrder(
  sql: Sql,
  tenant: Tenant,
  orderId: string,
): Promise<string | null> {
  const rows = await sql.query<{ id: string }>(
    `select id from payment_intents
     where ${wholeKey(['order_id', 'account_id', 'livemode'], ['$3', '$1', '$2'])}`,
    [tenant.accountId, tenant.livemode, orderId],
  );
  return rows[0]?.id ?? null;
}

const DECLINE_CODE = `(last_payment_error ->> 'decline_code')`;

/** Finds intents by the code of their last decline. A partial index has the declined ones. */
export async function selectDeclinedIntents(
  sql: Sql,
  filter: {
    readonly tenant: Tenant;
    readonly code: string;
    readonly terminal: string | null;
    readonly now: Date;
  },
  page: Page,
): Promise<PaymentIntent[]> {
  const list = {
    table: 'payment_intents',
    columns: paymentIntents.columns,
    filters: { terminal_id: filter.terminal, [DECLINE_CODE]: filter.code },
    indexes: { [DECLINE_CODE]: { columns: [DECLINE_CODE, ...TENANT_KEY], ordered: true } },
    conditions: ['last_payment_error is not null'],
  };
  const rows = await selectPage<IntentRow>(sql, list, filter.tenant, page);
  return rows.map((row) => asOf(toIntent(row), filter.now));
}
