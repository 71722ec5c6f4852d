import { type Answer, createApi } from './api.ts';
import type { ForwardedList, ForwardOfflinePaymentsBody } from './types/device.ts';

/** The call of a till that has sold offline, in its own file, because most tills never make it. */

/** What the service says of one forwarded record. */
export type Forwarded = ForwardedList['data'][number];
export type OfflineRecord = ForwardOfflinePaymentsBody['payments'][number];

/** Most records of one call. */
export const MOST_RECORDS = 100;
/** The service verifies a hundred signatures and asks the chain about each sale. */
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
