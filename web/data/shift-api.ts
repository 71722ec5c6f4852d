import { type Answer, createApi } from './api.ts';
import type { Shift } from './types/device.ts';

/**
 * Calls about the cashiers of a till. They are in a separate file, because a till without PINs
 * never makes them.
 */

/** A long time-out, because the service hashes PINs slowly, and calls queue up when it is busy. */
const PIN_TIMEOUT_MS = 20_000;
const QUICK_TIMEOUT_MS = 10_000;

/** A cashier who can start a shift. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

export interface ShiftApi {
  people(): Promise<Answer<{ readonly data: readonly Person[] }>>;
  /** Starts the shift, or hands it over to this cashier. */
  start(person: string, pin: string): Promise<Answer<Shift>>;
  end(): Promise<Answer<Shift>>;
}

export function createShiftApi(deviceKey: string): ShiftApi {
  const api = createApi({
    root: 'api/device/v1',
    headers: () => ({ Authorization: `Bearer ${deviceKey}` }),
  });
  return {
    people: () => api({ path: '/cashiers', timeoutMs: QUICK_TIMEOUT_MS }),
    start: (cashier, pin) =>
      api({
        method: 'POST',
        path: '/shift',
        body: { cashier, pin },
        timeoutMs: PIN_TIMEOUT_MS,
      }),
    end: () => api({ method: 'DELETE', path: '/shift', timeoutMs: QUICK_TIMEOUT_MS }),
  };
}
