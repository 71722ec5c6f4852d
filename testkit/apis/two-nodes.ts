import type { Reply } from '#testkit/apis/api-client.ts';
import { outcomeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { type Presented, tap } from '#testkit/apis/tap.ts';
import { addIntent, type StoreOptions, type TestStore } from '#testkit/fixtures/payments/store.ts';

/** Where and for what a credential is presented. Default: at `server`, for a new intent. */
export interface Presenting {
  readonly intentId?: string;
  readonly node?: 0 | 1;
  readonly key?: string;
}

/** Two nodes of one network, on which payments settle. */
export interface TwoNodes {
  readonly store: TestStore;
  readonly server: StoreServer;
  readonly other: StoreServer;
  present(credential: Presented, at?: Presenting): Promise<Reply>;
  /** Presents a credential. @returns its error code, else its decline code, else its status. */
  outcome(credential: Presented, at?: Presenting): Promise<string>;
  /**
   * Presents a credential several times concurrently, at both nodes, each time for a new intent.
   * @returns how often each outcome occurred
   */
  race(credential: Presented, times: number): Promise<Readonly<Record<string, number>>>;
  /** Returns the method by which the intent was paid, as the merchant sees it. */
  methodOf(intentId: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export async function openTwoNodes(options: StoreOptions): Promise<TwoNodes> {
  const { store, server } = await openServedStore({ ...options, settles: true });
  const other = await serveStore({ ...store, ctx: { ...store.ctx } });
  const present: TwoNodes['present'] = async (credential, at = {}) => {
    const { intentId = await addIntent(store), node = 0, key } = at;
    return tap((node === 0 ? server : other).device(), intentId, credential, { key });
  };
  const outcome: TwoNodes['outcome'] = async (credential, at) =>
    outcomeOf((await present(credential, at)).body);
  return {
    store,
    server,
    other,
    present,
    outcome,
    race: async (credential, times) => {
      const intents = await Promise.all(Array.from({ length: times }, () => addIntent(store)));
      const outcomes = await Promise.all(
        intents.map((intentId, n) => outcome(credential, { intentId, node: n % 2 === 0 ? 0 : 1 })),
      );
      const counts: Record<string, number> = {};
      for (const one of outcomes) counts[one] = (counts[one] ?? 0) + 1;
      return counts;
    },
    methodOf: async (intentId) => {
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
