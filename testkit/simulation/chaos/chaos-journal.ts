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

/** An intent that responses showed in two different final states. */
interface Turn {
  readonly id: string;
  readonly before: string;
  readonly after: string;
}

/** A refund with its payment, or a withdrawal with its wallet. */
export interface SeenTransfer {
  readonly id: string;
  readonly amount: number;
  readonly status: string;
  readonly payment?: string;
  readonly wallet?: string;
}
export type SeenRefund = SeenTransfer & { readonly payment: string };
export type SeenWithdrawal = SeenTransfer & { readonly wallet: string };

const ENDED = new Set(['succeeded', 'canceled']);
/**
 * Maximum number of recorded complaints. It is enough for a diagnosis; under load, one fault may
 * cause thousands.
 */
const MAX_COMPLAINTS = 200;

/** The part of the journal that a restore of the database can invalidate. */
class Shown {
  readonly answers = new Map<string, string>();
  readonly intents = new Map<string, SeenIntent>();
  readonly refunds = new Map<string, SeenRefund>();
  readonly withdrawals = new Map<string, SeenWithdrawal>();
  /** Each intent's decline times (`last_payment_error.created`). */
  readonly declines = new Map<string, Set<string>>();
}

/**
 * Returns what responses showed up to the time of the copy. Keeps payments, because the chain still
 * has them. Forgets intents without a final state: recovery may cancel them, or find that they were
 * paid.
 */
function restore(shown: Shown, copy: Shown): Shown {
  const restored = structuredClone(copy);
  for (const [id, intent] of shown.intents) {
    if (intent.status !== 'succeeded') continue;
    restored.intents.set(id, copy.intents.has(id) ? intent : { ...intent, mayBeRebuilt: true });
  }
  for (const [id, { status }] of restored.intents) {
    if (!ENDED.has(status)) restored.intents.delete(id);
  }
  return restored;
}

/** Records a refund or withdrawal, which may go from pending to one final state. */
function sawTransfer<T extends SeenTransfer>(
  known: Map<string, T>,
  seen: T,
  complain: (what: string) => void,
): void {
  const before = known.get(seen.id);
  if (before === undefined || before.status === 'pending') known.set(seen.id, seen);
  else if (seen.status !== 'pending' && seen.status !== before.status)
    complain(`${seen.id} was ${before.status} and became ${seen.status}`);
}

export type Journal = ReturnType<typeof openJournal>;

/**
 * Records the responses that clients got during a chaos run, so that they can be checked at its
 * end.
 */
export function openJournal() {
  let shown = new Shown();
  let copy: Shown | null = null;
  let restores = 0;
  const turns: Turn[] = [];
  const counts = new Map<string, number>();
  const complaints: string[] = [];
  /** Records a violation that the client itself noticed. */
  const complain = (what: string) => {
    if (complaints.length < MAX_COMPLAINTS) complaints.push(what);
  };
  return {
    /** Records the response to an idempotency key. Every later one to this key must equal it. */
    answered: (
      key: string,
      { status, text }: { readonly status: number; readonly text: string },
    ) => {
      const now = `${status} ${text}`;
      const before = shown.answers.get(key) ?? now;
      shown.answers.set(key, before);
      if (before !== now) complain(`key ${key} answered first ${before} then ${now}`);
    },
    /** Records an intent as a response showed it. */
    saw: (intent: SeenIntent) => {
      const { id, amount, status, declined } = intent;
      const before = shown.intents.get(id);
      const over = before !== undefined && ENDED.has(before.status);
      // Responses may arrive out of order, so an intent may seem to go back to an earlier state.
      // But two different final states are a contradiction.
      if (over && ENDED.has(status) && before.status !== status)
        turns.push({ id, before: before.status, after: status });
      if (before !== undefined && before.amount !== amount) complain(`${id} changed its amount`);
      if (!over) shown.intents.set(id, intent);
      if (declined !== null)
        shown.declines.set(id, (shown.declines.get(id) ?? new Set()).add(declined));
    },
    sawRefund: (seen: SeenRefund) => sawTransfer(shown.refunds, seen, complain),
    sawWithdrawal: (seen: SeenWithdrawal) => sawTransfer(shown.withdrawals, seen, complain),
    /** Call it before the database is copied. A restore may undo every later response. */
    copied: () => {
      copy = structuredClone(shown);
    },
    /** Call it after the copy was restored. */
    restored: () => {
      restores++;
      if (copy !== null) shown = restore(shown, copy);
    },
    /** A response from before a restore proves nothing about the restored database. */
    restores: () => restores,
    count: (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    complain,
    get shown(): Readonly<Shown> {
      return shown;
    },
    turns: turns as readonly Turn[],
    counts: counts as ReadonlyMap<string, number>,
    complaints: complaints as readonly string[],
  };
}
