/** A background job of a worker. It runs when woken, and at least every `pollMs`. */
export interface LoopOptions {
  readonly name: string;
  /** Polling interval in milliseconds. Polling finds the work if a wake-up was lost. */
  readonly pollMs: number;
  /**
   * Does one limited batch of work. Returns `true` to run again immediately, or a number to run
   * again after that many milliseconds (earlier if woken).
   */
  readonly run: () => Promise<boolean | number>;
  readonly onError: (name: string, error: unknown) => void;
}

export interface Loop {
  /** Signals that there may be work. May be called any number of times. */
  wake(): void;
  /** Waits for the current run to finish, then stops the loop. */
  stop(): Promise<void>;
}

/** Pause after a fault, which spares a database that is down. */
const ERROR_PAUSE_MS = 500;

/** Returns the pause after faults: each consecutive one doubles it, up to the poll interval. */
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
  /**
   * Runs the job once.
   * @returns the milliseconds until the next run
   */
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
