import type { Answer } from '../data/api.ts';
import type { Device, DeviceApi, Intent } from '../data/device-api.ts';
import { asksCustomer, next, openedNone, type TillEvent, takesFound } from './till-machine.ts';
import type {
  Canceling,
  Create,
  Creating,
  Following,
  Open,
  Phase,
  Tapping,
  Till,
} from './till-phases.ts';
import { keepTill, keptTill } from './till-storage.ts';

/** Longest poll, short enough that a dead connection is noticed within seconds. */
const POLL_S = 10;
/**
 * Longest poll while a payment is processed, because the condition that it waits for can change
 * without its status.
 */
const PROCESSING_POLL_S = 3;
/** Time after which the till checks a slow request with a second, different one. */
const SLOW_MS = 3_000;
const ASK_EVERY_MS = 2_000;
/** The time for which a customer waits for a payment to open before the till gives up. */
const GIVE_UP_MS = 12_000;
const RETRY_MS = [500, 1_000, 2_000, 4_000] as const;
/**
 * Interval of polls while the service is unreachable, so that `Offline` disappears within a second.
 */
const REACH_MS = 500;
/** Interval of connection checks while a customer signs an offline sale. */
const CONNECTION_MS = 5_000;
/** Pause once the device key is no longer valid, when frequent polling would not help. */
const KEY_ENDED_MS = 10_000;
/**
 * Tolerance when clocks are compared: one second because the service rounds its time, half a second
 * for the request.
 */
const CLOCK_SET_MS = 1_500;

export interface TillView {
  readonly till: Till;
  /** True if the last request reached the service. */
  readonly reached: boolean;
  /** False if nothing responded. A response from a proxy still proves a network. */
  readonly hasNetwork: boolean;
  /** True if the device key is no longer valid and the till must be paired again. */
  readonly keyEnded: boolean;
  /** The device's time of the last successful response; `null` before the first one. */
  readonly contactAt: number | null;
  /** Milliseconds to add to this device's clock to get the service's time. */
  readonly clockOffsetMs: number;
}

/**
 * Returns the better clock offset. The service rounds its time down to whole seconds, so the
 * highest recent offset is the closest. A larger difference means that a clock was changed.
 */
function nearerOffset(known: number, serverTime: number | null): number {
  if (serverTime === null) return known;
  const said = serverTime - Date.now();
  return said > known || said < known - CLOCK_SET_MS ? said : known;
}

type Action = TillEvent extends infer One
  ? One extends unknown
    ? Omit<One, 'now'>
    : never
  : never;

/**
 * Carries out the actions of a phase, one request at a time, and feeds the results to the state
 * machine. Stores the state before each request, so that a reload continues from there.
 */
export class TillRunner {
  readonly #api: DeviceApi;
  readonly #listeners = new Set<() => void>();
  #view: TillView = {
    till: keptTill(),
    reached: true,
    hasNetwork: true,
    keyEnded: false,
    contactAt: null,
    clockOffsetMs: 0,
  };
  /** Aborts waits, such as a long poll or a pause, but never a request that changes something. */
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

  readonly dispatch = (action: Action): void => {
    // A window that was replaced by another one may still receive responses, but must no longer
    // write the stored state.
    if (!this.#running) return;
    const before = this.#view.till;
    const till = next(before, { ...action, now: performance.now() });
    if (till === before) return;
    // Stores the state before acting on it.
    keepTill(till);
    this.#show({ till });
    if (till.phase.at !== before.phase.at) this.#poke();
  };

  /** Loads the terminal, and with it the service's clock. */
  async device(): Promise<Device | null> {
    const answer = await this.#api.device();
    const device = answer.is === 'done' ? answer.value : null;
    // A deactivated terminal may still read its own data, but not sell.
    this.#note(answer, device?.status === 'active');
    return device;
  }

  stop(): void {
    this.#running = false;
    window.removeEventListener('online', this.#back);
    window.removeEventListener('offline', this.#poke);
    document.removeEventListener('visibilitychange', this.#poke);
    this.#waiting.abort();
  }

  /** Contacts the service even if the browser reports that it is offline. */
  readonly #poke = (): void => {
    this.#waiting.abort();
    if (!navigator.onLine) void this.device();
  };

  /**
   * Sends a small request in any phase, because the current phase may not notice that the network
   * is back.
   */
  readonly #back = (): void => {
    this.#poke();
    void this.device();
  };

  /** Returns the length of the next poll: 0 until the service is known to be reachable. */
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
    const { orphan, left: [left] = [] } = this.#view.till;
    switch (phase.at) {
      case 'keypad':
        if (orphan !== null) return this.#settleOrphan(orphan);
        return left === undefined ? this.#pollNext() : this.#cancelLeft(left);
      case 'creating':
        if (performance.now() - phase.since > GIVE_UP_MS) {
          this.dispatch({ type: 'gave_up' });
          return Promise.resolve();
        }
        if (orphan !== null) return this.#settleOrphan(orphan);
        // The earlier payment must not stay open beside the new one.
        if (left !== undefined && phase.sends === 0) return this.#cancelLeft(left);
        return this.#create(phase);
      case 'open':
      case 'following':
        return this.#watch(phase);
      case 'canceling':
        return this.#cancel(phase);
      case 'tapping':
        return this.#tap(phase);
      case 'result':
        return this.#pause(null);
      case 'asking':
      case 'accepted':
        return this.#lookForConnection();
    }
  }

  /** Waits. @param ms `null` to wait until an event ends the pause. */
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

  #pauseAfterFailure(): Promise<void> {
    const { reached, keyEnded } = this.#view;
    const ms = RETRY_MS[Math.min(this.#failures, RETRY_MS.length) - 1] ?? RETRY_MS[0];
    if (keyEnded) return this.#pause(KEY_ENDED_MS);
    // A browser that reports being offline also reports the return of the network.
    return this.#pause(!reached && navigator.onLine ? REACH_MS : ms);
  }

  /** Records the state of the connection that a response shows, whatever the payment's result. */
  #note<T>(answer: Answer<T>, isActive = answer.is === 'done'): Answer<T> {
    const isWell = answer.is === 'done';
    const isRefused = answer.is === 'refused';
    const reached = isWell || isRefused;
    const hasNetwork = reached || (answer.is === 'unknown' && answer.status !== undefined);
    this.#failures = isWell ? 0 : this.#failures + 1;
    const keyEnded = !isWell && (isRefused ? answer.status === 401 : this.#view.keyEnded);
    const time = isWell ? answer.serverTime : null;
    const clockOffsetMs = nearerOffset(this.#view.clockOffsetMs, time);
    // Only a successful response extends the time for offline sales.
    const contactAt = isActive ? Date.now() : this.#view.contactAt;
    this.#show({ reached, hasNetwork, keyEnded, contactAt, clockOffsetMs });
    return answer;
  }

  /** Checks for a connection, and leaves the payment as it is. */
  async #lookForConnection(): Promise<void> {
    await this.device();
    if (this.#view.reached) return this.#pause(CONNECTION_MS);
    return this.#pauseAfterFailure();
  }

  async #pollNext(): Promise<void> {
    const { signal } = this.#waiting;
    const answer = await this.#api.next(this.#pollS(null), signal);
    if (signal.aborted) return;
    this.#note(answer);
    if (answer.is !== 'done') return this.#pauseAfterFailure();
    if (answer.value !== null) this.dispatch({ type: 'found', intent: answer.value });
  }

  /** Repeats the request with the same key, because it may have opened a payment. */
  async #settleOrphan(orphan: Create): Promise<void> {
    const made = this.#note(await this.#api.create(orphan));
    const id = made.is === 'done' ? made.value.id : null;
    if (id === null && !openedNone(made)) return this.#pauseAfterFailure();
    this.dispatch({ type: 'orphan_settled', id });
  }

  /** Cancels an abandoned payment, or shows it if the customer has paid it after all. */
  async #cancelLeft(id: string): Promise<void> {
    const ended = this.#note(await this.#api.cancel(id));
    if (ended.is === 'done' || (ended.is === 'refused' && ended.status === 404)) {
      return this.dispatch({ type: 'left_settled', id });
    }
    const seen = ended.is === 'refused' ? this.#note(await this.#api.intent(id)) : ended;
    if (seen.is !== 'done') return this.#pauseAfterFailure();
    const { status } = seen.value;
    // The payment is still open, so it is canceled again: the next pass must not pay it.
    if (status === 'requires_payment_method' || asksCustomer(seen.value)) {
      return this.#pauseAfterFailure();
    }
    if (status !== 'canceled') {
      // Waits until the cashier is back at the keypad, where the payment is noticed.
      if (!takesFound(this.#view.till.phase)) return;
      this.dispatch({ type: 'found', intent: seen.value });
    }
    this.dispatch({ type: 'left_settled', id });
  }

  async #create(phase: Creating): Promise<void> {
    this.dispatch({ type: 'tap_sent' });
    const answer = this.#note(await this.#api.create(phase.create));
    this.dispatch({ type: 'created', answer });
    if (this.#view.till.phase.at === 'creating') await this.#pauseAfterFailure();
  }

  /**
   * Reads the intent once and records when the request was sent, because the response describes
   * that moment.
   */
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
    // Reads immediately when the payment expires, and less often afterwards.
    const wait = isOver && status === 'requires_payment_method' ? null : { status };
    if (!(await this.#ask(id, wait))) return this.#pauseAfterFailure();
    if (wait === null) await this.#pause(ASK_EVERY_MS);
  }

  async #cancel(phase: Canceling): Promise<void> {
    const answer: Answer<Intent> = this.#note(await this.#api.cancel(phase.intent.id));
    this.dispatch({ type: 'cancel_answered', answer });
    if (this.#view.till.phase.at === 'canceling') await this.#pauseAfterFailure();
  }

  /**
   * Sends the tap. While it has no response, or after the response was lost, also reads the intent
   * itself.
   */
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
