import { RecentMap } from '#core/recent-map.ts';
import type { OrderTime } from '#db/commit-order.ts';

/** Nothing is known to have been stamped. */
const NEVER = new Date(0);
const UNKNOWN: OrderTime = { aheadSeconds: 0, stampedAt: NEVER };
/** More accounts than one process serves within minutes; each takes some hundred bytes. */
const MOST_ACCOUNTS = 10_000;

/**
 * What this process last learned about the times of accounts, so that a create needs no query for
 * it: how far a clock in test mode runs ahead, and when its last row counts as created. No later
 * row may count as created before that.
 *
 * It does no harm when other processes know more, or when this one has forgotten an account. The
 * statement leaves a request out if its account has another clock or a later time. Once this
 * process has held the account's lock, it knows both.
 */
export class AccountClocks {
  readonly #times = new RecentMap<OrderTime>(MOST_ACCOUNTS);

  /** `tenant` as `tenantKey` writes it. */
  timeOf(tenant: string): OrderTime {
    return this.#times.get(tenant) ?? UNKNOWN;
  }

  learn(tenant: string, { aheadSeconds, stampedAt }: OrderTime): void {
    const known = this.timeOf(tenant);
    const later = stampedAt > known.stampedAt ? stampedAt : known.stampedAt;
    this.#times.set(tenant, { aheadSeconds, stampedAt: later });
  }
}
