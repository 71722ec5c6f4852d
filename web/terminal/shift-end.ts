import { useEffect } from 'react';
import { createShiftApi } from '../data/shift-api.ts';
import { replacePlace } from './page-path.ts';
import type { TillContext } from './screens/till-context.ts';
import { isBetweenSales } from './till-machine.ts';
import { keptPairing } from './till-storage.ts';

/** Pause before the end is sent again to a service that did not answer. */
const AGAIN_MS = 3_000;

/** Ends the shift on the service once the till is reached, idle, and has forwarded its sales. */
export function ShiftEnd({ view, settings, offline, change }: TillContext): null {
  const key = settings.ending ?? null;
  const isWaiting =
    offline.view.refusal === null && offline.view.sales.some(({ state }) => state.is === 'waits');
  const isReady = view.reached && isBetweenSales(view.till.phase) && !isWaiting;
  useEffect(() => {
    if (key === null || !isReady) return;
    const end = new AbortController();
    void endShift(key, end.signal).then((report) => {
      if (report === 'aborted') return;
      change({ shiftSince: null, ending: null, ended: report });
      replacePlace('');
    });
    return () => end.abort();
  }, [key, isReady, change]);
  return null;
}

/**
 * Ends the shift on the service, and repeats that with the same key until it answers. A shift that
 * began without a connection starts first, so that its sales get a report.
 * @returns the id of the shift if it has a report, or else `null`
 */
async function endShift(key: string, signal: AbortSignal): Promise<string | null | 'aborted'> {
  const api = createShiftApi(keptPairing()?.key ?? '');
  let own = key;
  while (!signal.aborted) {
    const answer = await api.end(own);
    if (answer.is === 'done') return 'number' in answer.value ? answer.value.id : null;
    const isRefused = answer.is === 'refused' && answer.status < 500 && answer.status !== 429;
    if (isRefused && answer.status !== 409) {
      if (answer.status !== 404 || own !== key) return null;
      const started = await api.startEmpty();
      if (started.is === 'refused') return null;
      if (started.is === 'done') own = `${key}.2`;
      else await pause(signal);
      continue;
    }
    await pause(signal);
  }
  return 'aborted';
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, AGAIN_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
