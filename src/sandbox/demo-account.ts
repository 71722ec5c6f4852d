import { setTimeout as sleep } from 'node:timers/promises';
import { SCOPES } from '#accounts/api-key-scopes.ts';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { createApiKey } from '#accounts/create-api-key.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { StartError } from '#core/start-error.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { createOperator } from '#people/create-operator.ts';
import type { DataFolder } from '#sandbox/data-folder.ts';
import { createDemoPayers } from '#sandbox/demo-payers.ts';
import { LIVE_WALLETS, signMerchantConsent, TEST_WALLETS } from '#sandbox/demo-wallets.ts';
import { wallet } from '#sandbox/derive-wallets.ts';
import { deriveKey } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { CIRCLE_FAUCET, hasFaucet } from '#settlement/chain/fees/faucet.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { createTerminal } from '#terminals/create-terminal.ts';

/** The part of sandbox.json for one mode (behavior.md 20.3). */
export interface DemoMode {
  readonly secret_key: string;
  readonly terminal: string;
  readonly device_key: string;
  readonly agent_terminal: string;
  readonly passes: Readonly<Record<string, string>>;
}

/**
 * The demo account's secrets. They are stored in the data folder, because the service shows them
 * only once.
 */
export interface Demo {
  readonly account: string;
  readonly dashboard: { readonly email: string; readonly password: string };
  readonly operator: { readonly email: string; readonly password: string };
  /** A second operator, who can approve once a second factor is set up. */
  readonly operator_2: { readonly email: string; readonly password: string };
  readonly test: DemoMode;
  readonly live: DemoMode;
}

export interface DemoDeps extends ProcessContext {
  readonly folder: DataFolder;
  readonly secret: Buffer;
  readonly chains: readonly Chain[];
}

const DEMO_FILE = 'demo.json';
const ACTOR = { type: 'system', name: 'demo data' } as const;
/**
 * Time limit for a few blocks. If it is exceeded, the chain has a fault, which its log explains.
 */
const CHAIN_WAIT_MS = 60_000;
const CHAIN_POLL_MS = 50;

function orThrow<T>(value: T | Refusal): T {
  if (isRefusal(value)) throw new StartError(`the demo data was refused: ${value.message}`);
  return value;
}

/**
 * Derives a password from the data folder's secret, so that an interrupted start can continue with
 * the same one.
 */
function password(secret: Buffer, who: string): string {
  return deriveKey(secret, `demo password ${who}`).toString('base64url').slice(0, 20);
}

async function findAccount(sql: Sql, id: string): Promise<boolean> {
  return (await sql.query('select 1 as found from accounts where id = $1', [id])).length === 1;
}

/** Returns the account that an earlier, interrupted start created for this owner. */
async function findOwned(sql: Sql, email: string): Promise<string | null> {
  const rows = await sql.query<{ account_id: string }>(
    `select m.account_id from memberships m join users u on u.id = m.user_id
     where u.email = $1 and u.realm = 'merchant' and m.role = 'owner' limit 1`,
    [email],
  );
  return rows[0]?.account_id ?? null;
}

async function approveKyb(sql: Sql, accountId: string): Promise<void> {
  await sql.query(`update accounts set kyb_status = 'approved' where id = $1`, [accountId]);
}

type People = Pick<Demo, 'account' | 'dashboard' | 'operator' | 'operator_2'>;

async function createPeople(deps: DemoDeps): Promise<People> {
  const { db, secret } = deps;
  const now = deps.clock.now();
  const dashboard = { email: 'owner@demo.test', password: password(secret, 'owner') };
  const operator = { email: 'operator@demo.test', password: password(secret, 'operator') };
  const operator_2 = await ensureSecondOperator(deps);
  const known = await findOwned(db, dashboard.email);
  if (known !== null) return { account: known, dashboard, operator, operator_2 };
  const { accountId } = orThrow(
    await createAccountWithOwner(db, {
      accountName: 'Demo Coffee',
      owner: { ...dashboard, name: 'Demo Owner' },
      actor: ACTOR,
      now,
    }),
  );
  await approveKyb(db, accountId);
  // After an interrupted start, the operator may already exist.
  await createOperator(db, { person: { ...operator, name: 'Demo Operator' }, actor: ACTOR, now });
  return { account: accountId, dashboard, operator, operator_2 };
}

async function ensureSecondOperator({ db, secret, clock }: DemoDeps): Promise<Demo['operator_2']> {
  const person = { email: 'operator2@demo.test', password: password(secret, 'operator 2') };
  const named = { ...person, name: 'Demo Operator 2' };
  // The service refuses this if the operator already exists.
  await createOperator(db, { person: named, actor: ACTOR, now: clock.now() });
  return person;
}

async function createMode(
  tx: Tx,
  tenant: { readonly accountId: string; readonly livemode: boolean },
  now: Date,
): Promise<Omit<DemoMode, 'passes'>> {
  const owned = { tenant, actor: ACTOR, now };
  const name = 'Demo server';
  const key = orThrow(
    await createApiKey(tx, { ...owned, name, scopes: SCOPES, ipAllowlist: [], expiresAt: null }),
  );
  const counter = orThrow(await createTerminal(tx, { ...owned, label: 'Counter 1' }));
  const agents = orThrow(await createTerminal(tx, { ...owned, label: 'Online agents' }));
  return {
    secret_key: key.secret,
    terminal: counter.row.id,
    device_key: counter.secret,
    agent_terminal: agents.row.id,
  };
}

/** True if an earlier, interrupted start has requested the registration already. */
async function isAsked(sql: Sql, subjectId: string): Promise<boolean> {
  const rows = await sql.query(
    `select 1 as asked from chain_requests
     where kind = 'merchant_registration' and subject_id = $1 and status <> 'failed'`,
    [subjectId],
  );
  return rows.length > 0;
}

/**
 * Registers the demo merchant on a network's contract, unless it is already registered.
 * @returns the job to wait for.
 */
async function goLive(
  deps: DemoDeps,
  accountId: string,
  network: NetworkConfig,
): Promise<string[]> {
  const { livemode } = network;
  const rows = await deps.db.query(
    `select 1 as live from account_modes
     where account_id = $1 and livemode = $2 and live_at is not null`,
    [accountId, livemode],
  );
  if (rows.length > 0) return [];
  const subjectId = `${accountId}:${network.network}`;
  if (await isAsked(deps.db, subjectId)) return [subjectId];
  const now = deps.clock.now();
  const account = wallet(deps.secret, `${network.network} settlement wallet`);
  const consent = await signMerchantConsent(account, { network, accountId, now });
  await deps.db.transaction(async (tx) => {
    await tx.query(
      'update account_modes set settlement_wallet = $3 where account_id = $1 and livemode = $2',
      [accountId, livemode, account.address],
    );
    const payload = { accountId, ...consent };
    await requestOnChain(tx, { livemode, kind: 'merchant_registration', subjectId, payload, now });
  });
  return [subjectId];
}

async function selectUnfinished(sql: Sql, subjects: readonly string[]): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from chain_requests
     where subject_id = any($1)
       and (status in ('queued', 'submitted')
         or (kind = 'merchant_registration' and applied_at is null))`,
    [subjects],
  );
  return rows[0]?.count ?? 0;
}

async function waitForChains(deps: DemoDeps, subjects: readonly string[]): Promise<void> {
  const deadline = performance.now() + CHAIN_WAIT_MS;
  while ((await selectUnfinished(deps.db, subjects)) > 0) {
    if (performance.now() > deadline) {
      throw new StartError(
        'the chains did not confirm the demo data within a minute: see the logs',
      );
    }
    await sleep(CHAIN_POLL_MS);
  }
  const failed = await deps.db.query<{ kind: string; outcome: unknown }>(
    `select kind, outcome from chain_requests where subject_id = any($1) and status = 'failed'`,
    [subjects],
  );
  if (failed.length > 0) {
    throw new StartError(`the chains refused the demo data: ${JSON.stringify(failed[0])}`);
  }
}

/** Returns the warning that the demo passes work only once their wallets hold USDC. */
function withoutMoney({ network, chainId }: NetworkConfig): string {
  return (
    `the demo wallets of ${network} hold no USDC: the token of chain ${chainId} cannot be minted ` +
    `here (${CIRCLE_FAUCET} has test USDC)`
  );
}

async function createDemo(deps: DemoDeps): Promise<Demo> {
  const people = await createPeople(deps);
  const now = deps.clock.now();
  const { account } = people;
  const subjects: string[] = [];
  const passes: Record<string, Record<string, string>> = {};
  for (const chain of deps.chains) {
    const network = chain.config;
    const wallets = network.livemode ? LIVE_WALLETS : TEST_WALLETS;
    const funded = await hasFaucet(chain);
    if (!funded) deps.log.info(withoutMoney(network));
    const input = { network, wallets, funded, secret: deps.secret, now };
    const created = await createDemoPayers(deps.db, input);
    passes[network.network] = created.passes;
    subjects.push(...created.subjects, ...(await goLive(deps, account, network)));
    deps.wakeups.send('chain-requests', network.network);
  }
  const modes = await deps.db.transaction(async (tx) => ({
    test: await createMode(tx, { accountId: account, livemode: false }, now),
    live: await createMode(tx, { accountId: account, livemode: true }, now),
  }));
  await waitForChains(deps, subjects);
  return {
    ...people,
    test: { ...modes.test, passes: passes.testnet ?? {} },
    live: { ...modes.live, passes: passes.mainnet ?? {} },
  };
}

/** Checks that the nodes answer, because the demo merchant and payers are created on the chains. */
async function requireNodes(chains: DemoDeps['chains']): Promise<void> {
  for (const { config, rpc } of chains) {
    const probed = await rpc.probe();
    if (probed.some(({ chainId }) => chainId !== null)) continue;
    const setting = `CHAIN_${config.network.toUpperCase()}_RPC_URL`;
    const told = probed.map(({ host, error }) => `${host}: ${error}`).join('; ');
    throw new StartError(
      `${setting} cannot be reached (${told}), and the demo account must still be created there: ` +
        'start again once it responds',
    );
  }
}

/**
 * Creates the demo account with its people, keys, terminals and payers at the first start; later
 * starts return the same account. If a start is interrupted, the next one completes it.
 */
export async function ensureDemo(deps: DemoDeps): Promise<Demo> {
  const kept = (await deps.folder.readJson(DEMO_FILE)) as Demo | undefined;
  if (kept !== undefined && (await findAccount(deps.db, kept.account))) return kept;
  await requireNodes(deps.chains);
  const demo = await createDemo(deps);
  await deps.folder.writeJson(DEMO_FILE, demo);
  return demo;
}
