import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertAccount } from '#accounts/account-queries.ts';
import { isRefusal } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { signMerchantConsent } from '#sandbox/demo-wallets.ts';
import { wallet } from '#sandbox/derive-wallets.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { addTestKey } from '#testkit/fixtures/payments/merchants.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import {
  type ChaosProcess,
  makeDemo,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import { fillWorld } from '#testkit/simulation/chaos/chaos-world.ts';
import type { Seller } from './nodes-load.ts';

/**
 * The system that bench/nodes.ts measures: API nodes, a worker, and accounts that are live on a
 * real chain.
 */
export interface NodesGround {
  readonly db: Database;
  readonly rpcUrl: string;
  readonly sellers: readonly Seller[];
  readonly passes: readonly string[];
  readonly nodes: readonly { readonly origin: string; readonly pid: number }[];
  readonly workerPid: number;
  readonly postgresPid: number;
  close(): Promise<void>;
}

const PAYERS = 300;
/** Time limit for registering all merchants; one sender registers only a few at a time. */
const REGISTERED_MS = 300_000;
const POLL_MS = 200;
const ACTOR = { type: 'system', name: 'bench' } as const;

/** Adds an account with an API key and a terminal, and requests its registration on the chain. */
async function addSeller(ground: ChaosGround, db: Database, number: number): Promise<Seller> {
  const now = new Date();
  const accountId = newId('account', now);
  const tenant = { accountId, livemode: false };
  const network = ground.testnet.config;
  const owner = wallet(ground.secret, `seller ${number}`);
  const consent = await signMerchantConsent(owner, { network, accountId, now });
  const terminal = await db.transaction(async (tx) => {
    await insertAccount(tx, { id: accountId, name: `Shop ${number}`, now });
    await tx.query(`update accounts set kyb_status = 'approved' where id = $1`, [accountId]);
    await tx.query(
      'update account_modes set settlement_wallet = $2 where account_id = $1 and not livemode',
      [accountId, owner.address],
    );
    // Disables all risk rules, because the same payers tap repeatedly.
    await tx.query(
      'insert into risk_settings (account_id, livemode, updated) values ($1, false, now())',
      [accountId],
    );
    const subjectId = `${accountId}:${network.network}`;
    const payload = { accountId, ...consent };
    const kind = 'merchant_registration';
    await requestOnChain(tx, { livemode: false, kind, subjectId, payload, now });
    return createTerminal(tx, { tenant, label: 'Counter', actor: ACTOR, now });
  });
  if (isRefusal(terminal)) throw new Error(terminal.message);
  const { secret: key } = await addTestKey(db, tenant, { now });
  return { key, terminal: terminal.row.id, deviceKey: terminal.secret };
}

async function waitForRegistrations(db: Database): Promise<void> {
  const deadline = performance.now() + REGISTERED_MS;
  for (;;) {
    const [row] = await db.query<{ left: number }>(
      `select count(*)::int as left from chain_requests
       where kind = 'merchant_registration' and applied_at is null`,
    );
    if (row?.left === 0) return;
    if (performance.now() > deadline) throw new Error(`${row?.left} accounts are not registered`);
    await sleep(POLL_MS);
  }
}

/** Returns the same ground, together with the process ids of everything started on it, in order. */
function withPids(ground: ChaosGround): { readonly ground: ChaosGround; readonly pids: number[] } {
  const pids: number[] = [];
  const endWithUs = (pid: number) => {
    pids.push(pid);
    ground.endWithUs(pid);
  };
  return { ground: { ...ground, endWithUs }, pids };
}

async function startNodes(ground: ChaosGround, count: number): Promise<ChaosProcess[]> {
  const processes: ChaosProcess[] = [];
  for (let number = 1; number <= count; number++) {
    processes.push(await startChaosProcess(ground, { name: `api ${number}`, role: 'api' }));
  }
  processes.push(await startChaosProcess(ground, { name: 'worker', role: 'worker' }));
  return processes;
}

export async function openNodesGround(counts: {
  readonly accounts: number;
  readonly nodes: number;
}): Promise<NodesGround> {
  const { ground, pids } = withPids(await openChaosGround());
  const first = await makeDemo(ground);
  const { sandbox } = first;
  const db = openDatabase({ url: ground.database.url, maxConnections: 4 });
  const network = ground.testnet.config;
  const size = { terminals: 0, payers: PAYERS, limited: 0, refundDailyLimit: 0n };
  const { passes } = await fillWorld({ db, secret: ground.secret, network }, { sandbox, size });
  const sellers: Seller[] = [];
  while (sellers.length < counts.accounts)
    sellers.push(await addSeller(ground, db, sellers.length));
  await waitForRegistrations(db);
  await first.stop();
  const processes = await startNodes(ground, counts.nodes);
  const origins = processes.flatMap(({ url }) => (url === null ? [] : [new URL(url).origin]));
  const file = path.join(ground.folder, 'postgres/postmaster.pid');
  const [postgresPid = ''] = (await readFile(file, 'utf8')).split('\n');
  return {
    ...{ db, sellers, passes },
    rpcUrl: network.rpcUrls[0] ?? '',
    nodes: origins.map((origin, index) => ({ origin, pid: pids[index] ?? 0 })),
    workerPid: pids.at(-1) ?? 0,
    postgresPid: Number(postgresPid),
    close: async () => {
      await Promise.all(processes.map((one) => one.close()));
      await db.close();
      await ground.close();
    },
  };
}
