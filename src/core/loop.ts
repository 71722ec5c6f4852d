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

export function startLoop(options: LoopOptions): Loop {
  let stopped = false;
  let woken = true;
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
    } catch (error) {
      options.onError(options.name, error);
      await sleep(ERROR_PAUSE_MS, false);
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
