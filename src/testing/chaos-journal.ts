/** What clients of a chaos run were told: the promises that the end is held against. */
export interface Journal {
  /** Answers that a key got, and that may not change any more. */
  answered(key: string, answer: { readonly status: number; readonly text: string }): void;
  /** An intent that some answer has shown. */
  saw(intent: SeenIntent): void;
  sawRefund(refund: SeenRefund): void;
  count(what: string): void;
  /** A broken promise that a client noticed by itself. */
  complain(what: string): void;
  readonly intents: ReadonlyMap<string, SeenIntent>;
  readonly refunds: ReadonlyMap<string, SeenRefund>;
  readonly counts: ReadonlyMap<string, number>;
  readonly complaints: readonly string[];
}

export interface SeenIntent {
  readonly id: string;
  readonly amount: number;
  readonly status: string;
  readonly payment: string | null;
}

export interface SeenRefund {
  readonly id: string;
  readonly amount: number;
  readonly payment: string;
  readonly status: string;
}

const ENDED = new Set(['succeeded', 'canceled']);
/** Enough to see what is wrong; a fault under load would repeat itself thousands of times. */
const MAX_COMPLAINTS = 200;

export function openJournal(): Journal {
  const answers = new Map<string, string>();
  const intents = new Map<string, SeenIntent>();
  const refunds = new Map<string, SeenRefund>();
  const counts = new Map<string, number>();
  const complaints: string[] = [];
  const complain = (what: string) => {
    if (complaints.length < MAX_COMPLAINTS) complaints.push(what);
  };
  return {
    answered: (key, { status, text }) => {
      const now = `${status} ${text}`;
      const before = answers.get(key);
      if (before === undefined) answers.set(key, now);
      else if (before !== now) complain(`key ${key} answered first ${before} then ${now}`);
    },
    saw: (intent) => {
      const before = intents.get(intent.id);
      const over = before !== undefined && ENDED.has(before.status);
      // An older answer may arrive late, but two ends contradict each other.
      if (over && ENDED.has(intent.status) && before.status !== intent.status) {
        complain(`${intent.id} was ${before.status} and became ${intent.status}`);
      }
      if (before !== undefined && before.amount !== intent.amount) {
        complain(`${intent.id} changed its amount`);
      }
      if (!over) intents.set(intent.id, intent);
    },
    sawRefund: (refund) => {
      const before = refunds.get(refund.id);
      if (before === undefined || before.status === 'pending') refunds.set(refund.id, refund);
      else if (refund.status !== 'pending' && refund.status !== before.status) {
        complain(`${refund.id} was ${before.status} and became ${refund.status}`);
      }
    },
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    complain,
    intents,
    refunds,
    counts,
    complaints,
  };
}
