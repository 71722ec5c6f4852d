/** One background job of a worker: it runs when woken, and at least every `pollMs`. */
export interface LoopOptions {
  readonly name: string;
  /** Polling interval in milliseconds, in case a wake-up got lost. */
  readonly pollMs: number;
  /**
   * Does one bounded batch of work. `true` requests another run at once. A number requests a run
   * after this many milliseconds, unless the loop is woken earlier.
   */
  readonly run: () => Promise<boolean | number>;
  readonly onError: (name: string, error: unknown) => void;
}

export interface Loop {
  /** Signals that work may be waiting. May be called at any time, any number of times. */
  wake(): void;
  /** Lets the current run finish, then ends. */
  stop(): Promise<void>;
}

/** After a fault the loop waits this long, to spare a database that is down. */
const ERROR_PAUSE_MS = 500;

/** Returns the pause: each consecutive fault doubles it, up to the poll interval. */
function pauseMs(faultsInRow: number, pollMs: number): number {
  return Math.min(ERROR_PAUSE_MS * 2 ** (faultsInRow - 1), Math.max(pollMs, ERROR_PAUSE_MS));
}

export function startLoop(options: LoopOptions): Loop {
  let stopped = false;
  let woken = true;
  let faultsInRow = 0;
  let ring: () => void = () => {};
  const wake = () => {
    woken = true;
    ring();
  };
  const sleep = (ms: number, untilWoken: boolean) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      ring = () => (untilWoken || stopped) && end();
      if (stopped || (untilWoken && woken)) end();
    });
  /** @returns the time until the next run in milliseconds. */
  const turn = async (): Promise<number> => {
    woken = false;
    try {
      const again = await options.run();
      woken ||= again === true;
      faultsInRow = 0;
      return typeof again === 'number' ? Math.min(again, options.pollMs) : options.pollMs;
    } catch (error) {
      faultsInRow++;
      options.onError(options.name, error);
      await sleep(pauseMs(faultsInRow, options.pollMs), false);
      woken = true; // Run again, because the failed work is still to be done.
      return options.pollMs;
    }
  };
  const done = (async () => {
    while (!stopped) {
      const ms = await turn();
      if (!woken && !stopped) await sleep(ms, true);
    }
  })();
  return {
    wake,
    stop: () => {
      stopped = true;
      ring();
      return done;
    },
  };
}
