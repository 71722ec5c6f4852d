import type { Confirmation, PayerApi, PaymentResult } from '../data/payer-api.ts';
import { addResults, dropResults } from './payment-results.ts';
import { isUnexplained, nextRings, type Ring, type RingEvent, type Rings } from './ring-machine.ts';
import { keep, kept } from './wallet-storage.ts';

/**
 * Longest poll. Below the service's limit of 25 s, so that the wallet notices a dead connection.
 */
const POLL_S = 20;
const RETRY_MS = [1_000, 2_000, 5_000, 10_000] as const;
const ANSWER_RETRY_MS = 1_500;
const TICK_MS = 500;

type Message =
  | {
      readonly type: 'listed';
      readonly confirmations: readonly Confirmation[];
      readonly ended: readonly PaymentResult[];
    }
  /** A window has opened and asks for the pending confirmations. */
  | { readonly type: 'hello' };

/**
 * Notifies of payments that wait for confirmation, and of those that have ended. One window polls
 * the service for all of them, because a browser opens only six connections to a server and each
 * tab would use one. Without Web Locks or BroadcastChannel, each window polls for itself. A window
 * that is seen again takes over and asks at once, because the one that polled may be asleep or its
 * connection dead.
 */
export class Bell {
  readonly #api: PayerApi;
  readonly #channel: BroadcastChannel | null;
  readonly #listeners = new Set<() => void>();
  readonly #end = new AbortController();
  readonly #ticking: ReturnType<typeof setInterval>;
  readonly #name: string;
  /** Confirmations that this window has answered, which show their own results. */
  readonly #answered = new Set<string>();
  /** Ends this window's poll, or its wait for its turn to poll. */
  #turn = new AbortController();
  #rings: Rings = [];
  /** The last response, or `null` if this window does not poll. */
  #asked: readonly Confirmation[] | null = null;

  /** @param name Wallet and network, so that windows of another wallet are not notified. */
  constructor(api: PayerApi, name: string) {
    this.#api = api;
    this.#name = name;
    this.#channel = 'BroadcastChannel' in window ? new BroadcastChannel(`updates ${name}`) : null;
    this.#channel?.addEventListener('message', this.#hear);
    this.#say({ type: 'hello' });
    this.#ticking = setInterval(() => this.dispatch({ type: 'tick', now: api.now() }), TICK_MS);
    const { signal } = this.#end;
    document.addEventListener('visibilitychange', this.#seen, { signal });
    window.addEventListener('pageshow', this.#seen, { signal });
    window.addEventListener('online', this.#seen, { signal });
    void this.#takeTurn(false);
  }

  readonly rings = (): Rings => this.#rings;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly dispatch = (event: RingEvent): void => {
    const before = this.#rings;
    this.#rings = nextRings(before, event);
    for (const ring of this.#rings) {
      if (isUnexplained(ring) && !before.includes(ring)) void this.#lookUp(ring);
    }
    // Nothing changed, so the windows need no update.
    const isSame =
      before.length === this.#rings.length && before.every((ring, at) => ring === this.#rings[at]);
    if (isSame) this.#rings = before;
    else for (const listener of this.#listeners) listener();
  };

  /** Sends the answer, and repeats it until its result is known. Repeating is safe. */
  async answer(intent: string, yes: boolean): Promise<void> {
    this.#answered.add(intent);
    this.dispatch({ type: 'answer', intent, yes });
    while (this.#isAnswering(intent) && !this.#end.signal.aborted) {
      this.dispatch({ type: 'sent', intent });
      const answer = await this.#api.answer(intent, yes);
      this.dispatch({ type: 'answered', intent, answer });
      if (this.#isAnswering(intent)) await this.#pause(ANSWER_RETRY_MS);
    }
  }

  /**
   * Looks up a confirmation that ended without this window's answer. Only the service knows whether
   * the shop canceled it.
   */
  async #lookUp({ confirmation: { payment_intent: intent } }: Ring): Promise<void> {
    const answer = await this.#api.confirmation(intent);
    if (answer.is !== 'done') return;
    this.dispatch({ type: 'looked_up', intent, confirmation: answer.value });
  }

  stop(): void {
    clearInterval(this.#ticking);
    this.#end.abort();
    this.#turn.abort();
    dropResults();
    this.#channel?.close();
  }

  #isAnswering(intent: string): boolean {
    return this.#rings.some(
      ({ at, confirmation }) => at === 'answering' && confirmation.payment_intent === intent,
    );
  }

  readonly #hear = ({ data }: MessageEvent<Message>): void => {
    if (data.type === 'listed') this.#tell(data);
    else if (this.#asked !== null) {
      this.#say({ type: 'listed', confirmations: this.#asked, ended: [] });
    }
  };

  readonly #seen = (): void => {
    if (document.visibilityState === 'visible') void this.#takeTurn(true);
  };

  #tell({ confirmations, ended }: Extract<Message, { type: 'listed' }>): void {
    const asked = new Set(this.#rings.map(({ confirmation }) => confirmation.payment_intent));
    const fresh = ended.filter(
      ({ payment_intent: id, decline_code: code }) =>
        !asked.has(id) && !this.#answered.has(id) && code !== 'payer_rejected',
    );
    this.dispatch({ type: 'listed', confirmations });
    addResults(fresh);
  }

  #say(message: Message): void {
    this.#channel?.postMessage(message);
  }

  #pause(ms: number, { signal }: AbortController = this.#end): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** @param now Takes the turn from the window that has it. */
  async #takeTurn(now: boolean): Promise<void> {
    const turn = new AbortController();
    this.#turn.abort();
    this.#turn = turn;
    this.#asked = null;
    if (navigator.locks === undefined || this.#channel === null) return this.#wait(turn);
    const how = now ? { steal: true } : { signal: turn.signal };
    // Rejects if the wait for the lock was aborted, and if another window has taken the turn.
    await navigator.locks.request(this.#name, how, () => this.#wait(turn)).catch(() => {});
    if (!turn.signal.aborted) void this.#takeTurn(false);
  }

  async #wait(turn: AbortController): Promise<void> {
    const { signal } = turn;
    let failures = 0;
    while (!signal.aborted) {
      const last = kept('updates');
      const after = last?.name === this.#name ? last.cursor : undefined;
      const waitS = this.#asked === null ? 0 : POLL_S;
      const answer = await this.#api.updates({ waitS, after, signal });
      if (signal.aborted) return;
      if (answer.is === 'done') {
        failures = 0;
        const { confirmations, ended, cursor } = answer.value;
        this.#asked = confirmations;
        keep('updates', { name: this.#name, cursor });
        this.#tell({ type: 'listed', confirmations, ended });
        this.#say({ type: 'listed', confirmations, ended });
        continue;
      }
      // The service does not accept the cursor, for example after its secret has changed.
      if (answer.is === 'refused' && answer.status === 400) keep('updates', null);
      const ms = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? RETRY_MS[0];
      await this.#pause(ms, turn);
    }
  }
}
