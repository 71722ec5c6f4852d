import type { Answer } from '../data/api.ts';
import type { Device, DeviceApi, Intent } from '../data/device.ts';
import { keepTill, keptTill } from './kept.ts';
import { next, type TillEvent } from './machine.ts';
import type {
  Canceling,
  Create,
  Creating,
  Following,
  Open,
  Phase,
  Tapping,
  Till,
} from './phases.ts';

/** Short enough that a dead connection is noticed within seconds. */
const POLL_S = 10;
/** A payment that goes on waiting says what for without a change of its status. */
const PROCESSING_POLL_S = 3;
/** What waits for one answer this long asks in another way, too. */
const SLOW_MS = 3_000;
const ASK_EVERY_MS = 2_000;
/** A customer who stands there does not wait longer for a payment to be opened. */
const GIVE_UP_MS = 12_000;
const RETRY_MS = [500, 1_000, 2_000, 4_000] as const;
/** While nothing is reached, nobody is burdened: `Offline` ends within a second. */
const REACH_MS = 500;
/** Nothing of this key is accepted any more: asking often would not help. */
const KEY_ENDED_MS = 10_000;
/** A second for what the service rounds off, and half of one for the way. */
const CLOCK_SET_MS = 1_500;

export interface TillView {
  readonly till: Till;
  /** Whether the last request reached the service. */
  readonly reached: boolean;
  /** False: nothing answered at all. A proxy that answers for the service is a connection. */
  readonly hasNetwork: boolean;
  /** The device key is not accepted any more: the till has to be paired again. */
  readonly keyEnded: boolean;
  /** What to add to this device's clock to get the service's, in milliseconds. */
  readonly clockOffsetMs: number;
}

/**
 * The service says whole seconds and is up to one further: the highest of what it said lately is
 * the nearest. More than that, and a clock has been set.
 */
function nearerOffset(known: number, serverTime: number | null): number {
  if (serverTime === null) return known;
  const said = serverTime - Date.now();
  return said > known || said < known - CLOCK_SET_MS ? said : known;
}

type Deed = TillEvent extends infer One ? (One extends unknown ? Omit<One, 'now'> : never) : never;

/**
 * Carries out what a phase asks for and tells the machine what came of it, one thing at a time.
 * Whatever it does was written down before: after a reload the next one goes on from there.
 */
export class TillRunner {
  readonly #api: DeviceApi;
  readonly #listeners = new Set<() => void>();
  #view: TillView = {
    till: keptTill(),
    reached: true,
    hasNetwork: true,
    keyEnded: false,
    clockOffsetMs: 0,
  };
  /** Ends whatever merely waits: a long poll, a pause. Never a request that changes something. */
  #waiting = new AbortController();
  #running = true;
  #failures = 0;

  constructor(api: DeviceApi) {
    this.#api = api;
    window.addEventListener('online', this.#back);
    window.addEventListener('offline', this.#poke);
    document.addEventListener('visibilitychange', this.#poke);
    void this.#run();
  }

  readonly view = (): TillView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly dispatch = (deed: Deed): void => {
    // A window that was taken over may still hear answers: what is kept is the other one's now.
    if (!this.#running) return;
    const before = this.#view.till;
    const till = next(before, { ...deed, now: performance.now() });
    if (till === before) return;
    // Before anything is done about it.
    keepTill(till);
    this.#show({ till });
    if (till.phase.at !== before.phase.at) this.#poke();
  };

  /** Who this terminal is; the service's clock comes along. */
  async device(): Promise<Device | null> {
    const answer = this.#note(await this.#api.device());
    return answer.is === 'done' ? answer.value : null;
  }

  stop(): void {
    this.#running = false;
    window.removeEventListener('online', this.#back);
    window.removeEventListener('offline', this.#poke);
    document.removeEventListener('visibilitychange', this.#poke);
    this.#waiting.abort();
  }

  /** Whatever the browser believes of its network, the service is asked. */
  readonly #poke = (): void => {
    this.#waiting.abort();
    if (!navigator.onLine) void this.device();
  };

  /** What is under way may not hear of it: something small is asked, whatever the phase. */
  readonly #back = (): void => {
    this.#poke();
    void this.device();
  };

  /** No longer than it takes, until it is known that the service is there. */
  #pollS(status: string | null): number {
    if (!this.#view.reached) return 0;
    return status === 'processing' ? PROCESSING_POLL_S : POLL_S;
  }

  #show(part: Partial<TillView>): void {
    this.#view = { ...this.#view, ...part };
    for (const listener of this.#listeners) listener();
  }

  async #run(): Promise<void> {
    while (this.#running) {
      this.#waiting = new AbortController();
      await this.#step(this.#view.till.phase);
    }
  }

  #step(phase: Phase): Promise<void> {
    const { orphan } = this.#view.till;
    switch (phase.at) {
      case 'keypad':
        return orphan === null ? this.#pollNext() : this.#settleOrphan(orphan);
      case 'creating':
        return orphan === null ? this.#create(phase) : this.#settleOrphan(orphan);
      case 'open':
      case 'following':
        return this.#watch(phase);
      case 'canceling':
        return this.#cancel(phase);
      case 'tapping':
        return this.#tap(phase);
      case 'result':
        return this.#pause(null);
    }
  }

  /** @param ms null: until something happens. */
  #pause(ms: number | null): Promise<void> {
    const { signal } = this.#waiting;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = ms === null ? undefined : setTimeout(resolve, ms);
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  /** Before the same is tried again. */
  #pauseAfterFailure(): Promise<void> {
    const { reached, keyEnded } = this.#view;
    const ms = RETRY_MS[Math.min(this.#failures, RETRY_MS.length) - 1] ?? RETRY_MS[0];
    if (keyEnded) return this.#pause(KEY_ENDED_MS);
    // A browser that knows of no network says when there is one.
    return this.#pause(!reached && navigator.onLine ? REACH_MS : ms);
  }

  /** What an answer says about the connection, whatever it says about the payment. */
  #note<T>(answer: Answer<T>): Answer<T> {
    const reached = answer.is === 'done' || answer.is === 'refused';
    const hasNetwork = reached || (answer.is === 'unknown' && answer.status !== undefined);
    const isWell = answer.is === 'done';
    this.#failures = isWell ? 0 : this.#failures + 1;
    const keyEnded = answer.is === 'refused' ? answer.status === 401 : this.#view.keyEnded;
    const time = answer.is === 'done' ? answer.serverTime : null;
    const clockOffsetMs = nearerOffset(this.#view.clockOffsetMs, time);
    this.#show({ reached, hasNetwork, keyEnded: isWell ? false : keyEnded, clockOffsetMs });
    return answer;
  }

  async #pollNext(): Promise<void> {
    const { signal } = this.#waiting;
    const answer = await this.#api.next(this.#pollS(null), signal);
    if (signal.aborted) return;
    this.#note(answer);
    if (answer.is !== 'done') return this.#pauseAfterFailure();
    if (answer.value !== null) this.dispatch({ type: 'found', intent: answer.value });
  }

  /** Finds out with the same key whether it was opened, and closes it. */
  async #settleOrphan(orphan: Create): Promise<void> {
    const made = this.#note(await this.#api.create(orphan));
    if (made.is === 'done') {
      const ended = this.#note(await this.#api.cancel(made.value.id));
      if (ended.is === 'done' || ended.is === 'refused') {
        return this.dispatch({ type: 'orphan_settled' });
      }
    } else if (made.is === 'refused' && made.status < 500 && made.status !== 429) {
      const isUnderWay = made.error.code === 'idempotency_request_in_progress';
      if (!isUnderWay && made.status !== 401) return this.dispatch({ type: 'orphan_settled' });
    }
    return this.#pauseAfterFailure();
  }

  async #create(phase: Creating): Promise<void> {
    if (performance.now() - phase.since > GIVE_UP_MS) return this.dispatch({ type: 'gave_up' });
    this.dispatch({ type: 'tap_sent' });
    const answer = this.#note(await this.#api.create(phase.create));
    this.dispatch({ type: 'created', answer });
    if (this.#view.till.phase.at === 'creating') await this.#pauseAfterFailure();
  }

  /** Asks once, and says when: an answer is worth what was true then. */
  async #ask(id: string, wait: { readonly status: string } | null): Promise<boolean> {
    const askedAt = performance.now();
    const { signal } = this.#waiting;
    const answer = await this.#api.intent(
      id,
      wait === null ? undefined : { waitS: this.#pollS(wait.status), status: wait.status, signal },
    );
    if (wait !== null && signal.aborted) return true;
    this.#note(answer);
    if (answer.is !== 'done') return false;
    this.dispatch({ type: 'seen', intent: answer.value, askedAt });
    return true;
  }

  async #watch({ intent }: Open | Following): Promise<void> {
    const { status, id } = intent;
    const isOver = Date.parse(intent.expires_at) < Date.now() + this.#view.clockOffsetMs;
    // At the end of its time the truth is wanted at once, and then not too often.
    const wait = isOver && status === 'requires_payment_method' ? null : { status };
    if (!(await this.#ask(id, wait))) return this.#pauseAfterFailure();
    if (wait === null) await this.#pause(ASK_EVERY_MS);
  }

  async #cancel(phase: Canceling): Promise<void> {
    const answer: Answer<Intent> = this.#note(await this.#api.cancel(phase.intent.id));
    this.dispatch({ type: 'cancel_answered', answer });
    if (this.#view.till.phase.at === 'canceling') await this.#pauseAfterFailure();
  }

  /** While a tap's answer is on its way, and after it got lost, the intent itself is asked too. */
  async #tap({ intent, tap }: Tapping): Promise<void> {
    this.dispatch({ type: 'tap_sent' });
    const { id } = intent;
    let isAnswered = false;
    const asking = (async () => {
      await this.#pause(SLOW_MS);
      while (!isAnswered && this.#view.till.phase.at === 'tapping') {
        await this.#ask(id, null);
        if (!isAnswered) await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
      }
    })();
    const sent =
      'signed' in tap
        ? this.#api.authorize(id, { ...tap.signed, tip: tap.tip })
        : this.#api.tap(id, tap);
    const answer = this.#note(await sent);
    isAnswered = true;
    this.dispatch({ type: 'tap_answered', key: tap.key, answer });
    if (this.#view.till.phase.at !== 'tapping') return;
    await this.#pauseAfterFailure();
    await asking;
    if (this.#view.till.phase.at === 'tapping') await this.#ask(id, null);
  }
}
