import { systemClock } from '#core/clock.ts';
import type { IdKey } from '#core/ids.ts';
import type { Database } from '#db/database.ts';
import { localWakeups } from '#db/wakeups.ts';
import { fingerprint } from '#idempotency/request-fingerprint.ts';
import { withdraw } from '#payouts/withdraw-once-per-key.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { chainContext } from '#testing/store.ts';
import { type Seen, see } from '#testing/store-payments.ts';

/** Requests a withdrawal on the test network as the dashboard does. */
export async function askToWithdraw(
  { db, chain, idKey }: { readonly db: Database; readonly chain: Chain; readonly idKey: IdKey },
  asked: { readonly accountId: string; readonly key: string; readonly amount: bigint },
): Promise<Seen> {
  const { accountId, key, amount } = asked;
  const tenant = { accountId, livemode: false };
  const path = '/withdrawals';
  const parts = { db, wakeups: localWakeups(), clock: systemClock };
  const own = chainContext(parts, [chain]);
  const answer = await withdraw(
    { ...own, keys: { ...own.keys, id: idKey } },
    {
      tenant,
      amount,
      actor: { type: 'system', name: 'tests' },
      idempotency: {
        tenant,
        caller: '',
        key,
        method: 'POST',
        path,
        fingerprint: fingerprint('POST', path, { amount: Number(amount) }),
        docsUrl: 'http://docs.test',
      },
      requestId: 'req_test',
      now: new Date(),
    },
  );
  return see(answer);
}
