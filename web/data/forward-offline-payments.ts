import { type Answer, createApi } from './api.ts';
import type { ForwardedList, ForwardOfflinePaymentsBody } from './types/device.ts';

/** The call that forwards offline sales, in its own file because most tills never make it. */

export type Forwarded = ForwardedList['data'][number];
export type OfflineRecord = ForwardOfflinePaymentsBody['payments'][number];

const MOST_RECORDS = 100;
/** Maximum size of one call's JSON. The service refuses bodies larger than 64 KiB. */
const MOST_BYTES = 60_000;
/**
 * A long time-out, because the service verifies up to 100 signatures and queries the chain about
 * each sale.
 */
const FORWARD_TIMEOUT_MS = 30_000;

/**
 * Divides records into batches that the service accepts in one call. A record that is too large
 * gets its own batch.
 */
export function batchesOf<T>(all: readonly T[], recordOf: (one: T) => unknown): readonly T[][] {
  const batches: T[][] = [];
  let batch: T[] = [];
  let room = 0;
  for (const one of all) {
    // Includes the comma between two records.
    const size = new TextEncoder().encode(JSON.stringify(recordOf(one))).length + 1;
    if (batch.length === 0 || batch.length === MOST_RECORDS || size > room) {
      batch = [];
      batches.push(batch);
      room = MOST_BYTES;
    }
    batch.push(one);
    room -= size;
  }
  return batches;
}

export type ForwardApi = (records: readonly OfflineRecord[]) => Promise<Answer<ForwardedList>>;

export function createForwardApi(deviceKey: string): ForwardApi {
  const api = createApi({
    root: 'api/device/v1',
    headers: () => ({ Authorization: `Bearer ${deviceKey}` }),
  });
  return (payments) =>
    api({
      method: 'POST',
      path: '/offline_payments',
      body: { payments },
      timeoutMs: FORWARD_TIMEOUT_MS,
    });
}
