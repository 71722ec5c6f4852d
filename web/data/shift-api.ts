import { type Answer, createApi } from './api.ts';
import { fromRoot } from './root-path.ts';
import type { Shift, ShiftReport, ShiftReportList } from './types/device.ts';

/**
 * Calls about the cashiers of a till. They are in a separate file, because a till without PINs
 * never makes them.
 */

/** A long time-out, because the service hashes PINs slowly, and calls queue up when it is busy. */
const PIN_TIMEOUT_MS = 20_000;
const QUICK_TIMEOUT_MS = 10_000;
/** The first report of a till can hold the sales of years. */
const END_TIMEOUT_MS = 60_000;

/** A cashier who can start a shift. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** A person in the list of those who have a PIN. */
export interface ListedPerson extends Person {
  /** Absent from an earlier release of the service. */
  readonly lifts?: boolean;
}

export interface ShiftApi {
  people(): Promise<Answer<{ readonly data: readonly ListedPerson[] }>>;
  /** Starts the shift, or hands it over to this cashier. */
  start(person: string, pin: string): Promise<Answer<Shift>>;
  /** Starts the shift without a person. Refused if people have PINs. */
  startEmpty(): Promise<Answer<Shift>>;
  /** A release without reports answers with the shift. */
  end(key: string): Promise<Answer<ShiftReport | Shift>>;
  report(id: string): Promise<Answer<ShiftReport>>;
  reports(cursor: string | null): Promise<Answer<ShiftReportList>>;
  /** Returns the report as lines for a printer, marked as a copy. @throws if it cannot be read */
  text(id: string, width: number): Promise<string>;
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
    startEmpty: () =>
      api({ method: 'POST', path: '/shift', body: {}, timeoutMs: QUICK_TIMEOUT_MS }),
    end: (idempotencyKey) =>
      api({ method: 'DELETE', path: '/shift', idempotencyKey, timeoutMs: END_TIMEOUT_MS }),
    report: (id) => api({ path: `/shifts/${id}`, timeoutMs: QUICK_TIMEOUT_MS }),
    reports: (cursor) =>
      api({
        path: '/shifts',
        query: cursor === null ? {} : { cursor },
        timeoutMs: QUICK_TIMEOUT_MS,
      }),
    text: async (id, width) => {
      const response = await fetch(fromRoot(`/api/device/v1/shifts/${id}.txt?width=${width}`), {
        headers: { Authorization: `Bearer ${deviceKey}` },
        signal: AbortSignal.timeout(QUICK_TIMEOUT_MS),
      });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return response.text();
    },
  };
}
