import { type Answer, createApi } from './api.ts';
import type { PairingTarget } from './types/device.ts';

/** Pairing, apart from the calls of a paired till, because only its own screen needs it. */

const QUICK_TIMEOUT_MS = 10_000;

export interface Paired {
  readonly terminal: string;
  readonly device_key: string;
}

export function pairDevice(code: string): Promise<Answer<Paired>> {
  const api = createApi({ root: 'api/device/v1' });
  return api({ method: 'POST', path: '/pair', body: { code }, timeoutMs: QUICK_TIMEOUT_MS });
}

/** Returns the terminal of a pairing code, without consuming the code. */
export function previewPairing(code: string): Promise<Answer<PairingTarget>> {
  const api = createApi({ root: 'api/device/v1' });
  return api({
    method: 'POST',
    path: '/pair/preview',
    body: { code },
    timeoutMs: QUICK_TIMEOUT_MS,
  });
}
