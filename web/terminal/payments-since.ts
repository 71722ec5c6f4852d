import type { Answer } from '../data/api.ts';
import type { DeviceApi, Payment } from '../data/device-api.ts';

/** Maximum number of pages: 20,000 payments, more than any shift has. */
const MOST_PAGES = 200;

/** Returns this terminal's payments since a time, newest first. */
export async function paymentsSince(
  api: DeviceApi,
  since: string,
): Promise<Answer<readonly Payment[]>> {
  const payments: Payment[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await api.payments(cursor);
    if (answer.is !== 'done') return answer;
    const { data, next_cursor: next } = answer.value;
    const inside = data.filter(({ created }) => created >= since);
    payments.push(...inside);
    if (next === null || inside.length < data.length) break;
    cursor = next;
  }
  return { is: 'done', value: payments, status: 200, serverTime: null };
}
