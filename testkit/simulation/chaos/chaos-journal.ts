/**
 * Records the responses that clients got during a chaos run, so that they can be checked at its
 * end.
 */
export interface Journal {
  /** Records the response to an idempotency key. Every later response to this key must equal it. */
  answered(key: string, answer: { readonly status: number; readonly text: string }): void;
  saw(intent: SeenIntent): void;
  sawRefund(refund: SeenRefund): void;
  sawWithdrawal(withdrawal: SeenWithdrawal): void;
  /**
   * Call it before the database is copied. A restore of the copy may undo every response recorded
   * after this.
   */
  copied(): void;
  /**
   * Call it after the copy was restored. Keeps payments and drops other responses that were
   * recorded since the copy.
   */
  restored(): void;
  /**
   * Returns how many times the database was restored. A response from before a restore proves
   * nothing about the restored database.
   */
  restores(): number;
  count(what: string): void;
  /** Reports a violation that the client itself noticed. */
  complain(what: string): void;
  readonly intents: ReadonlyMap<string, SeenIntent>;
  readonly refunds: ReadonlyMap<string, SeenRefund>;
  readonly withdrawals: ReadonlyMap<string, SeenWithdrawal>;
  /** Intents that responses showed in two different final states. */
  readonly turns: readonly Turn[];
  /** Each intent's decline times (`last_payment_error.created`) as responses showed them. */
  readonly declines: ReadonlyMap<string, ReadonlySet<string>>;
  readonly counts: ReadonlyMap<string, number>;
  readonly complaints: readonly string[];
}

export interface SeenIntent {
  readonly id: string;
  readonly amount: number;
  readonly tip: number;
  readonly status: string;
  readonly payment: string | null;
  /**
   * Time at which the intent was last declined; `null` if never, or if it can no longer be paid.
   */
  readonly declined: string | null;
  /** True if recovery may have rebuilt the intent from the chain, which does not store tips. */
  readonly mayBeRebuilt?: true;
}

export interface Turn {
  readonly id: string;
  readonly before: string;
  readonly after: string;
}

export interface SeenWithdrawal {
  readonly id: string;
  readonly amount: number;
  readonly wallet: string;
  readonly status: string;
}

export interface SeenRefund {
  readonly id: string;
  readonly amount: number;
  readonly payment: string;
  readonly status: string;
}

const ENDED = new Set(['succeeded', 'canceled']);
/**
 * Maximum number of recorded complaints. It is enough for a diagnosis; under load, one fault may
 * cause thousands.
 */
const MAX_COMPLAINTS = 200;

/** The part of the journal that a restore of the database can invalidate. */
interface Shown {
  readonly answers: Map<string, string>;
  readonly intents: Map<string, SeenIntent>;
  readonly refunds: Map<string, SeenRefund>;
  readonly withdrawals: Map<string, SeenWithdrawal>;
  readonly declines: Map<string, Set<string>>;
}

function copyOf(shown: Shown): Shown {
  return {
    answers: new Map(shown.answers),
    intents: new Map(shown.intents),
    refunds: new Map(shown.refunds),
    withdrawals: new Map(shown.withdrawals),
    declines: new Map([...shown.declines].map(([id, times]) => [id, new Set(times)])),
  };
}

/**
 * After a restore, resets `shown` to its state at the time of the copy. Keeps payments, because the
 * chain still has them.
 */
function restore(shown: Shown, copy: Shown): void {
  const paid = [...shown.intents.values()].filter(({ status }) => status === 'succeeded');
  const put = <T>(into: Map<string, T>, from: Map<string, T>) => {
    into.clear();
    for (const [key, value] of from) into.set(key, value);
  };
  put(shown.answers, copy.answers);
  put(shown.intents, copy.intents);
  put(shown.refunds, copy.refunds);
  put(shown.withdrawals, copy.withdrawals);
  put(shown.declines, copy.declines);
  for (const intent of paid) {
    if (!shown.intents.has(intent.id))
      shown.intents.set(intent.id, { ...intent, mayBeRebuilt: true });
    else shown.intents.set(intent.id, intent);
  }
  // Forgets intents without a final state: recovery may cancel them, or find that they were paid.
  for (const [id, intent] of shown.intents) {
    if (!ENDED.has(intent.status)) shown.intents.delete(id);
  }
}

export function openJournal(): Journal {
  const shown: Shown = {
    answers: new Map(),
    intents: new Map(),
    refunds: new Map(),
    withdrawals: new Map(),
    declines: new Map(),
  };
  let copy: Shown | null = null;
  let restores = 0;
  const turns: Turn[] = [];
  const counts = new Map<string, number>();
  const complaints: string[] = [];
  const complain = (what: string) => {
    if (complaints.length < MAX_COMPLAINTS) complaints.push(what);
  };
  const saw = (intent: SeenIntent) => {
    const before = shown.intents.get(intent.id);
    const over = before !== undefined && ENDED.has(before.status);
    // Responses may arrive out of order, so an intent may seem to go back to an earlier state. But
    // two different final states are a contradiction.
    if (over && ENDED.has(intent.status) && before.status !== intent.status) {
      turns.push({ id: intent.id, before: before.status, after: intent.status });
    }
    if (before !== undefined && before.amount !== intent.amount) {
      complain(`${intent.id} changed its amount`);
    }
    if (!over) shown.intents.set(intent.id, intent);
    if (intent.declined !== null) {
      const times = shown.declines.get(intent.id) ?? new Set();
      shown.declines.set(intent.id, times.add(intent.declined));
    }
  };
  return {
    ...recordTransfers(shown, complain),
    answered: (key, { status, text }) => {
      const now = `${status} ${text}`;
      const before = shown.answers.get(key);
      if (before === undefined) shown.answers.set(key, now);
      else if (before !== now) complain(`key ${key} answered first ${before} then ${now}`);
    },
    saw,
    copied: () => {
      copy = copyOf(shown);
    },
    restored: () => {
      restores++;
      // Restores from a clone, because the same copy may be restored again.
      if (copy !== null) restore(shown, copyOf(copy));
    },
    restores: () => restores,
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    complain,
    ...shown,
    turns,
    counts,
    complaints,
  };
}

/** Records refunds and withdrawals. Each may go from pending to one final state. */
function recordTransfers(shown: Shown, complain: (what: string) => void) {
  const record = <T extends { readonly id: string; readonly status: string }>(
    known: Map<string, T>,
    seen: T,
  ) => {
    const before = known.get(seen.id);
    if (before === undefined || before.status === 'pending') known.set(seen.id, seen);
    else if (seen.status !== 'pending' && seen.status !== before.status) {
      complain(`${seen.id} was ${before.status} and became ${seen.status}`);
    }
  };
  return {
    sawRefund: (refund: SeenRefund) => record(shown.refunds, refund),
    sawWithdrawal: (withdrawal: SeenWithdrawal) => record(shown.withdrawals, withdrawal),
  };
}
