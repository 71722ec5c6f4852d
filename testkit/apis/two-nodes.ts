import type { Reply } from '#testkit/apis/api-client.ts';
import { outcomeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, serveStore } from '#testkit/apis/store-server.ts';
import { type Presented, tap } from '#testkit/apis/tap.ts';
import { addIntent, type StoreOptions } from '#testkit/fixtures/payments/store.ts';

/** Where and for what a credential is presented. Default: at `server`, for a new intent. */
export interface Presenting {
  readonly intentId?: string;
  readonly node?: 0 | 1;
  readonly key?: string;
}

/** Two nodes of one network, on which payments settle. */
export type TwoNodes = Awaited<ReturnType<typeof openTwoNodes>>;

export async function openTwoNodes(options: StoreOptions) {
  const { store, server } = await openServedStore({ ...options, settles: true });
  const other = await serveStore({ ...store, ctx: { ...store.ctx } });
  const present = async (credential: Presented, at: Presenting = {}): Promise<Reply> => {
    const { intentId = await addIntent(store), node = 0, key } = at;
    return tap((node === 0 ? server : other).device(), intentId, credential, { key });
  };
  /** Presents a credential. @returns its error code, else its decline code, else its status. */
  const outcome = async (credential: Presented, at?: Presenting) =>
    outcomeOf((await present(credential, at)).body);
  return {
    store,
    server,
    other,
    present,
    outcome,
    /**
     * Presents a credential several times concurrently, at both nodes, each time for a new intent.
     * @returns how often each outcome occurred
     */
    race: async (credential: Presented, times: number) => {
      const intents = await Promise.all(Array.from({ length: times }, () => addIntent(store)));
      const outcomes = await Promise.all(
        intents.map((intentId, n) => outcome(credential, { intentId, node: n % 2 === 0 ? 0 : 1 })),
      );
      const counts: Record<string, number> = {};
      for (const one of outcomes) counts[one] = (counts[one] ?? 0) + 1;
      return counts;
    },
    /** Returns the method by which the intent was paid, as the merchant sees it. */
    methodOf: async (intentId: unknown) => {
      const merchant = await server.merchant();
      const { body } = await merchant.get(`/payments?payment_intent=${intentId}`);
      return (body.data as { payment_method: unknown }[])[0]?.payment_method;
    },
    close: async () => {
      await other.close();
      await server.close();
    },
  };
}
