import { RecentMap } from '#core/recent-map.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { CreateRequest } from '#payments/create-request.ts';

/**
 * After this the way that does not wait is tried again: long next to a batch, short in a shop's
 * day. Each time that it is tried in vain makes the pause twice as long, up to the longest: a try
 * costs a batch. Each time that it succeeds makes the next one a tenth shorter. (Between two
 * writers, about half of the tries succeed by chance: when success halved the pauses, there were
 * seven tries a second instead of one.)
 */
const CONTENDED_MS = 50;
const CONTENDED_MAX_MS = 3_200;
const SHORTER = 0.9;
/** What is forgotten is found out again, at the cost of one batch. */
const MOST_ACCOUNTS = 10_000;

/** A batch that waits for its accounts' orders or has them. */
interface LockedBatch {
  readonly accounts: ReadonlySet<string>;
  readonly done: Promise<unknown>;
}

function accountOf({ standing }: CreateRequest): string {
  return tenantKey(standing.tenant);
}

/**
 * Accounts for which this process has seen others write at the same time. Their creates wait for
 * the account's order from the start: the statement that never waits would do nothing.
 */
export class ContendedAccounts {
  readonly #pauses = new RecentMap<{ readonly until: number; readonly ms: number }>(MOST_ACCOUNTS);
  readonly #batches = new Set<LockedBatch>();
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** The way that does not wait was tried. */
  note(request: CreateRequest, { inVain }: { readonly inVain: boolean }): void {
    const account = accountOf(request);
    // During a pause it was a batch from before the pause.
    if (this.has(request)) return;
    if (inVain) this.#pause(account);
    else this.#shorten(account);
  }

  #shorten(account: string): void {
    const ms = (this.#pauses.get(account)?.ms ?? 0) * SHORTER;
    // The next pause would be the first one again.
    if (2 * ms < CONTENDED_MS) this.#pauses.delete(account);
    else this.#pauses.set(account, { until: 0, ms });
  }

  #pause(account: string): void {
    const last = this.#pauses.get(account);
    const ms = last === undefined ? CONTENDED_MS : Math.min(2 * last.ms, CONTENDED_MAX_MS);
    this.#pauses.set(account, { until: this.#nowMs() + ms, ms });
  }

  has(request: CreateRequest): boolean {
    const pause = this.#pauses.get(accountOf(request));
    return pause !== undefined && this.#nowMs() < pause.until;
  }

  async track<T>(requests: readonly CreateRequest[], work: Promise<T>): Promise<T> {
    const accounts = new Set(requests.map(accountOf));
    const batch = { accounts, done: work.catch(() => {}) };
    this.#batches.add(batch);
    return work.finally(() => this.#batches.delete(batch));
  }

  /**
   * Otherwise the next statement would meet our own batches, and the account would stay contended.
   */
  async untilUnlocked(request: CreateRequest): Promise<void> {
    const account = accountOf(request);
    for (;;) {
      const batch = [...this.#batches].find(({ accounts }) => accounts.has(account));
      if (batch === undefined) return;
      await batch.done;
    }
  }
}
