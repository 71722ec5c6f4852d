import type { Confirmation, PayerApi } from '../data/payer-api.ts';
import { isUnexplained, nextRings, type Ring, type RingEvent, type Rings } from './ring-machine.ts';

/**
 * Longest poll. Below the service's limit of 25 s, so that the wallet notices a dead connection.
 */
const POLL_S = 20;
const RETRY_MS = [1_000, 2_000, 5_000, 10_000] as const;
const ANSWER_RETRY_MS = 1_500;
const TICK_MS = 500;

type Message =
  | { readonly type: 'listed'; readonly confirmations: readonly Confirmation[] }
  /** A window has opened and asks for the pending confirmations. */
  | { readonly type: 'hello' };

/**
 * Notifies of payments that wait for confirmation. One window polls the service for all of them,
 * because a browser opens only six connections to a server and each tab would use one. Without Web
 * Locks or BroadcastChannel, each window polls for itself.
 */
export class Bell {
  readonly #api: PayerApi;
  readonly #channel: BroadcastChannel | null;
  readonly #listeners = new Set<() => void>();
  readonly #end = new AbortController();
  readonly #ticking: ReturnType<typeof setInterval>;
  #rings: Rings = [];
  /** The last response, or `null` if this window does not poll. */
  #asked: readonly Confirmation[] | null = null;

  /** @param name Wallet and network, so that windows of another wallet are not notified. */
  constructor(api: PayerApi, name: string) {
    this.#api = api;
    this.#channel = 'BroadcastChannel' in window ? new BroadcastChannel(`bell ${name}`) : null;
    this.#channel?.addEventListener('message', this.#hear);
    this.#say({ type: 'hello' });
    this.#ticking = setInterval(() => this.dispatch({ type: 'tick', now: api.now() }), TICK_MS);
    void this.#takeTurns(`bell ${name}`);
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
    this.#channel?.close();
  }

  #isAnswering(intent: string): boolean {
    return this.#rings.some(
      ({ at, confirmation }) => at === 'answering' && confirmation.payment_intent === intent,
    );
  }

  readonly #hear = ({ data }: MessageEvent<Message>): void => {
    if (data.type === 'listed') this.dispatch(data);
    else if (this.#asked !== null) this.#say({ type: 'listed', confirmations: this.#asked });
  };

  #say(message: Message): void {
    this.#channel?.postMessage(message);
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#end;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #takeTurns(name: string): Promise<void> {
    const { signal } = this.#end;
    if (navigator.locks === undefined || this.#channel === null) return this.#wait();
    // Rejects if the wait for the lock was aborted.
    await navigator.locks.request(name, { signal }, () => this.#wait()).catch(() => {});
  }

  async #wait(): Promise<void> {
    const { signal } = this.#end;
    let failures = 0;
    while (!signal.aborted) {
      const known = (this.#asked ?? []).map(({ payment_intent: id }) => id);
      const waitS = this.#asked === null ? 0 : POLL_S;
      const answer = await this.#api.confirmations({ waitS, known, signal });
      if (signal.aborted) return;
      if (answer.is === 'done') {
        failures = 0;
        this.#asked = answer.value.data;
        this.dispatch({ type: 'listed', confirmations: answer.value.data });
        this.#say({ type: 'listed', confirmations: answer.value.data });
      } else {
        const ms = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? RETRY_MS[0];
        await this.#pause(ms);
      }
    }
  }
}
