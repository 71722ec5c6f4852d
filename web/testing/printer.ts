import type { Page } from 'playwright-core';

/** The data that the fake printer has received. */
export interface Printed {
  /** In hex. */
  readonly jobs: string[];
  paper: boolean;
}

/**
 * Simulates a printer at a Web Serial port; runs in the page. The user chooses it once. While it is
 * open, it rejects another open.
 */
export function addPrinter(): void {
  const printed = { jobs: [] as string[], paper: true };
  let isOpen = false;
  const port = {
    open: async () => {
      if (isOpen) throw new Error('InvalidStateError');
      isOpen = true;
    },
    close: async () => {
      isOpen = false;
    },
    get writable() {
      return new WritableStream({
        write: (bytes: Uint8Array) => {
          if (!printed.paper) throw new Error('NetworkError');
          const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
          printed.jobs.push(digits.join(''));
        },
      });
    },
  };
  const serial = { requestPort: async () => port, getPorts: async () => [port] };
  Object.defineProperty(navigator, 'serial', { value: serial });
  Object.assign(globalThis, { printed });
}

export function printedJobs(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => (globalThis as unknown as { printed: Printed }).printed.jobs);
}
