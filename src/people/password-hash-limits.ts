import { type Refusal, refuse } from '#core/answer.ts';

/**
 * The kinds of callers for whom a password is hashed. A hash takes 30 ms of one core and 19 MiB, so
 * each kind has its own share of the capacity. Strangers who use up their share delay only other
 * strangers.
 */
export type HashCaller = 'stranger' | 'link' | 'person' | 'till' | 'staff' | 'command';

interface Share {
  /** Concurrent hashes. */
  readonly running: number;
  /** Maximum number of callers that wait for a slot; further callers are refused immediately. */
  readonly waiting: number;
}

/**
 * At most seven concurrent hashes per process: 133 MiB. Thirty callers wait half a second for two
 * slots; more callers mean an attack.
 */
const SHARES: Readonly<Record<HashCaller, Share>> = {
  stranger: { running: 2, waiting: 30 },
  link: { running: 1, waiting: 15 },
  person: { running: 1, waiting: 15 },
  till: { running: 1, waiting: 15 },
  staff: { running: 1, waiting: 15 },
  command: { running: 1, waiting: Number.POSITIVE_INFINITY },
};

interface Queue {
  running: number;
  readonly waiting: (() => void)[];
}

export function busy(): Refusal {
  return {
    ...refuse(
      'service_unavailable',
      'Too many people are signing in right now. Try again shortly.',
    ),
    headers: { 'Retry-After': '1' },
  };
}

/** Limits concurrent hashes to each kind's share. */
export class HashGate {
  readonly #shares: Readonly<Record<HashCaller, Share>>;
  readonly #queues = new Map<HashCaller, Queue>();

  constructor(shares: Readonly<Record<HashCaller, Share>> = SHARES) {
    this.#shares = shares;
  }

  /**
   * Runs the work and returns its result. If too many callers are waiting, returns a refusal
   * without running it.
   */
  async run<T>(caller: HashCaller, work: () => Promise<T>): Promise<T | Refusal> {
    const share = this.#shares[caller];
    const queue = this.#queueOf(caller);
    if (queue.running >= share.running) {
      if (queue.waiting.length >= share.waiting) return busy();
      // A finished caller passes its slot to the first in the queue, so that new callers cannot
      // overtake it.
      await new Promise<void>((resolve) => queue.waiting.push(resolve));
    } else {
      queue.running++;
    }
    try {
      return await work();
    } finally {
      const next = queue.waiting.shift();
      if (next === undefined) queue.running--;
      else next();
    }
  }

  #queueOf(caller: HashCaller): Queue {
    const known = this.#queues.get(caller);
    if (known !== undefined) return known;
    const queue = { running: 0, waiting: [] };
    this.#queues.set(caller, queue);
    return queue;
  }
}
