import { type Answer, createApi } from './api.ts';
import type { ForwardedList, ForwardOfflinePaymentsBody } from './types/device.ts';

/** The call that forwards offline sales, in its own file because most tills never make it. */

/** The service's response for one forwarded record. */
export type Forwarded = ForwardedList['data'][number];
export type OfflineRecord = ForwardOfflinePaymentsBody['payments'][number];

/** The maximum number of records in one call. */
export const MOST_RECORDS = 100;
/** Long, because the service verifies 100 signatures and asks the chain about each sale. */
const FORWARD_TIMEOUT_MS = 30_000;

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
