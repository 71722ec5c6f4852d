import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#db/database.ts';
import { createDemoPayers } from '#sandbox/demo-payers.ts';
import type { DemoWallet } from '#sandbox/demo-wallets.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/** Time limit for the next response. With a slow node, the whole set-up takes longer than this. */
const WAIT_MS = 60_000;
const POLL_MS = 100;

export interface Filling {
  readonly db: Database;
  readonly secret: Buffer;
  readonly network: NetworkConfig;
}

/**
 * Creates payers like those of the demo: each has a wallet with these funds, and a pass.
 * @returns the secrets of the passes, by name
 */
export async function enrolPayers(
  { db, secret, network }: Filling,
  names: readonly string[],
  funds: bigint,
): Promise<Readonly<Record<string, string>>> {
  const rich: DemoWallet = { funds, allowance: true, perPayment: funds };
  const wallets = Object.fromEntries(names.map((name) => [name, rich]));
  const demo = { network, secret, funded: true, wallets, now: new Date() };
  const { passes, subjects } = await createDemoPayers(db, demo);
  await waitForChain(db, subjects);
  return passes;
}

async function waitForChain(db: Database, subjects: readonly string[]): Promise<void> {
  const before = { done: 0, at: performance.now() };
  for (;;) {
    const [row] = await db.query<{ done: number }>(
      `select count(*)::int as done from chain_requests
       where subject_id = any($1) and status = 'succeeded'`,
      [subjects],
    );
    const done = row?.done ?? 0;
    if (done === subjects.length) return;
    if (done > before.done) Object.assign(before, { done, at: performance.now() });
    if (performance.now() - before.at > WAIT_MS) {
      throw new Error(`only ${done} of ${subjects.length} jobs of the payers were answered`);
    }
    await sleep(POLL_MS);
  }
}
