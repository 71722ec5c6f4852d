import { assertNever } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { type Condition, type Page, selectPage } from '#db/paging.ts';
import { INTENT_COLUMNS } from '#payments/intent-queries.ts';
import { type IntentRow, toIntent } from '#payments/intent-rows.ts';
import { asOf, type IntentStatus, type PaymentIntent } from '#payments/payment-intent.ts';

export interface IntentFilters {
  readonly terminal_id?: string | null;
  readonly source?: string | null;
  readonly order_id?: string | null;
  readonly status?: IntentStatus | null;
}

/** The longest expires_in: an older intent is not open any more. */
const MAX_OPEN_SECONDS = 600;

/**
 * The rows that readers see in this status at `now`: time may have ended what is stored as open or
 * asked (`asOf`). Few are open, asked or processing, and small indexes hold those; the indexes for
 * the other two statuses are not written when an intent is created.
 */
function inStatus(status: IntentStatus, now: Date): readonly (readonly Condition[])[] {
  const timedOut: Condition = { sql: "status = 'requires_action' and confirm_by <= ?", value: now };
  const isOver: Condition = { sql: 'expires_at <= ?', value: now };
  const isOpen: Condition = { sql: 'expires_at > ?', value: now };
  switch (status) {
    case 'requires_payment_method': {
      const recent = { sql: 'created > ?', value: addSeconds(now, -MAX_OPEN_SECONDS) };
      return [
        ["status = 'requires_payment_method'", isOpen, recent],
        [timedOut, isOpen],
      ];
    }
    case 'requires_action':
      return [[{ sql: "status = 'requires_action' and confirm_by > ?", value: now }]];
    case 'processing':
      return [["status = 'processing'"]];
    case 'succeeded':
      return [["status = 'succeeded'"]];
    case 'canceled':
      return [
        ["status = 'canceled'"],
        ["status = 'requires_payment_method'", isOver],
        [timedOut, isOver],
      ];
    default:
      return assertNever(status);
  }
}

/** A page of intents, as they are at `now`. */
export async function selectIntentPage(
  sql: Sql,
  wanted: { readonly tenant: Tenant; readonly filters: IntentFilters; readonly now: Date },
  page: Page,
): Promise<PaymentIntent[]> {
  const { status = null, ...filters } = wanted.filters;
  const list = {
    table: 'payment_intents',
    columns: INTENT_COLUMNS,
    filters,
    ...(status === null ? {} : { anyOf: inStatus(status, wanted.now) }),
  };
  const rows = await selectPage<IntentRow>(sql, list, wanted.tenant, page);
  return rows.map((row) => asOf(toIntent(row), wanted.now));
}
