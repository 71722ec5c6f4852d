/** One background job of a worker: runs when woken, and anyway every `pollMs`. */
export interface LoopOptions {
  readonly name: string;
  /** The safety net for a wake-up that got lost, in milliseconds. */
  readonly pollMs: number;
  /** Does one bounded portion of work. `true` asks to be called again at once. */
  readonly run: () => Promise<boolean>;
  readonly onError: (name: string, error: unknown) => void;
}

export interface Loop {
  /** Work may be waiting. May be called at any time, any number of times. */
  wake(): void;
  /** Lets the portion that runs finish, then ends. */
  stop(): Promise<void>;
}

/** After a fault the loop waits this long, so that a dead database is not hammered. */
const ERROR_PAUSE_MS = 500;

/** Each fault in a row doubles the pause, but a retry never comes later than the poll would. */
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
  const turn = async () => {
    woken = false;
    try {
      if (await options.run()) woken = true;
      faultsInRow = 0;
    } catch (error) {
      faultsInRow++;
      options.onError(options.name, error);
      await sleep(pauseMs(faultsInRow, options.pollMs), false);
      woken = true; // What failed is still to be done.
    }
  };
  const done = (async () => {
    while (!stopped) {
      await turn();
      if (!woken && !stopped) await sleep(options.pollMs, true);
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
