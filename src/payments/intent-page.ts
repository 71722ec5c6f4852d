import { assertNever } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import {
  type Branch,
  type Condition,
  HIDDEN_TENANT_KEY,
  type LocatedPage,
  selectLocatedPage,
  TENANT_KEY,
} from '#db/paging.ts';
import {
  type IntentRow,
  type IntentStatus,
  type PaymentIntent,
  paymentIntents,
  toIntent,
} from '#payments/intent-rows.ts';
import { asOf } from '#payments/payment-intent.ts';

export interface IntentFilters {
  readonly terminal_id?: string | null;
  readonly source?: string | null;
  readonly order_id?: string | null;
  readonly status?: IntentStatus | null;
}

/** The maximum of `expires_in`: an older intent is no longer open. */
const MAX_OPEN_SECONDS = 600;

/**
 * Ordered by expiry, so that the planner chooses the expiry index. Otherwise it considers the index
 * of a terminal's open intents equally good.
 */
const EXPIRED = `id = any(array(
  select id from payment_intents where status = 'requires_payment_method' and expires_at <= ?
  order by expires_at))`;

/**
 * Returns the conditions for intents that have this status at `now`. Intents stored as open or
 * waiting may have expired since (`asOf`). Few intents are open, waiting or processing, so those
 * have small partial indexes; creating an intent writes no index of the other two statuses.
 */
function inStatus(status: IntentStatus, now: Date): readonly Branch[] {
  const timedOut: Condition = { sql: "status = 'requires_action' and confirm_by <= ?", value: now };
  const expired: Condition = { sql: EXPIRED, value: now };
  const isOver: Condition = { sql: 'expires_at <= ?', value: now };
  const isOpen: Condition = { sql: 'expires_at > ?', value: now };
  switch (status) {
    case 'requires_payment_method': {
      const since = addSeconds(now, -MAX_OPEN_SECONDS);
      return [
        { conditions: ["status = 'requires_payment_method'", isOpen], since },
        { conditions: [timedOut, isOpen], key: 'few' },
      ];
    }
    case 'requires_action':
      return [
        {
          conditions: [{ sql: "status = 'requires_action' and confirm_by > ?", value: now }],
          key: 'few',
        },
      ];
    case 'processing':
      return [{ conditions: ["status = 'processing'", "account_id || '' = $1"], key: 'few' }];
    case 'succeeded':
      return [{ conditions: ["status = 'succeeded'"], key: HIDDEN_TENANT_KEY }];
    case 'canceled':
      return [
        { conditions: ["status = 'canceled'"], key: HIDDEN_TENANT_KEY },
        { conditions: [expired], key: 'few' },
        { conditions: [timedOut, isOver], key: 'few' },
      ];
    default:
      return assertNever(status);
  }
}

const INDEXES = {
  order_id: { columns: ['order_id', ...TENANT_KEY], ordered: false },
  terminal_id: { columns: ['terminal_id'], ordered: true },
  source: { columns: ['source', ...TENANT_KEY], ordered: true },
} as const;

export async function selectIntentPage(
  sql: Sql,
  query: { readonly tenant: Tenant; readonly filters: IntentFilters; readonly now: Date },
  page: LocatedPage,
): Promise<PaymentIntent[]> {
  const { status = null, ...filters } = query.filters;
  const list = {
    table: 'payment_intents',
    columns: paymentIntents.columns,
    filters,
    indexes: INDEXES,
    ...(status === null ? {} : { anyOf: inStatus(status, query.now) }),
  };
  const rows = await selectLocatedPage<IntentRow>(sql, list, query.tenant, page);
  return rows.map((row) => asOf(toIntent(row), query.now));
}
