import type { Page } from 'playwright-core';

/** The data that the fake printer has received. */
export interface Printed {
  /** In hex. */
  readonly jobs: string[];
  /** The speed at which each job was sent. */
  readonly speeds: number[];
  /** Jobs that the other serial device received. */
  readonly lost: string[];
  paper: boolean;
}

/**
 * Simulates two devices at Web Serial ports, of which the second is the printer; runs in the page.
 * The user chooses it once. While a port is open, it rejects another open.
 * @param alike true if both devices have adapters of one kind
 */
export function addPrinter(alike = false): void {
  const printed: Printed = { jobs: [], speeds: [], lost: [], paper: true };
  const newPort = (name: 'scale' | 'printer') => {
    let speed: number | null = null;
    return {
      open: async ({ baudRate }: { baudRate: number }) => {
        if (speed !== null) throw new Error('InvalidStateError');
        speed = baudRate;
      },
      close: async () => {
        speed = null;
      },
      getInfo: () => ({ usbVendorId: 0x4b8, usbProductId: name === 'scale' && !alike ? 7 : 3 }),
      forget: async () => sessionStorage.setItem(name, 'forgotten'),
      get writable() {
        return new WritableStream({
          write: (bytes: Uint8Array) => {
            const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
            if (name === 'scale') return void printed.lost.push(hex);
            if (!printed.paper) throw new Error('NetworkError');
            printed.jobs.push(hex);
            printed.speeds.push(speed ?? 0);
          },
        });
      },
    };
  };
  const [scale, printer] = [newPort('scale'), newPort('printer')];
  const granted = () => (sessionStorage.getItem('scale') === null ? [scale, printer] : [printer]);
  const serial = { requestPort: async () => printer, getPorts: async () => granted() };
  Object.defineProperty(navigator, 'serial', { value: serial });
  Object.assign(globalThis, { printed });
}

export function printedJobs(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => (globalThis as unknown as { printed: Printed }).printed.jobs);
}
