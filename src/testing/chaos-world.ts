import { setTimeout as sleep } from 'node:timers/promises';
import { isRefusal } from '#core/refusal.ts';
import type { Database } from '#db/database.ts';
import { createDemoPayers } from '#sandbox/demo-payers.ts';
import type { DemoWallet } from '#sandbox/demo-wallets.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import type { ChaosGround } from '#testing/chaos-ground.ts';

/** Who takes part in a chaos run: one merchant, many counters, many payers. */
export interface ChaosWorld {
  readonly accountId: string;
  readonly secretKey: string;
  readonly agentTerminal: string;
  readonly terminals: readonly { readonly id: string; readonly deviceKey: string }[];
  /** Passes that pay. */
  readonly passes: readonly string[];
  /** Passes of payers that are declined sooner or later: by a limit, by an empty wallet, … */
  readonly poorPasses: readonly string[];
  /** A pass of a payer that confirms each first payment at a merchant. */
  readonly confirmPass: string;
}

export interface WorldSize {
  readonly terminals: number;
  readonly payers: number;
  /** Payers with limits of their own. */
  readonly limited: number;
  /** Atoms that may be refunded per day: small enough to be reached. */
  readonly refundDailyLimit: bigint;
}

const FUNDS = 10_000_000_000_000n;
const RICH: DemoWallet = { funds: FUNDS, allowance: true, perPayment: FUNDS };
/** Atoms per payment and per day of a limited payer: reached after a dozen payments. */
const LIMITS = { limitPerPayment: 4_000_000, limitPerDay: 30_000_000 };
/** Payments from here on have to be confirmed by their payer: one in 25. */
const CONFIRM_FROM = 2_400_000;
const WAIT_MS = 60_000;
const POLL_MS = 100;
const ACTOR = { type: 'system', name: 'chaos' } as const;

async function addTerminals(db: Database, accountId: string, count: number) {
  const tenant = { accountId, livemode: false };
  const terminals: { id: string; deviceKey: string }[] = [];
  for (let number = 0; number < count; number++) {
    const created = await db.transaction((tx) =>
      createTerminal(tx, { tenant, label: `Counter ${number}`, actor: ACTOR, now: new Date() }),
    );
    if (isRefusal(created)) throw new Error(created.message);
    terminals.push({ id: created.row.id, deviceKey: created.secret });
  }
  return terminals;
}

async function waitForChain(db: Database, subjects: readonly string[]): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const [row] = await db.query<{ done: number }>(
      `select count(*)::int as done from chain_requests
       where subject_id = any($1) and status = 'succeeded'`,
      [subjects],
    );
    if (row?.done === subjects.length) return;
    if (performance.now() > deadline) throw new Error('the payers were not enrolled in time');
    await sleep(POLL_MS);
  }
}

async function addPayers(ground: ChaosGround, db: Database, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, number) => `chaos_${number}`);
  const { passes, subjects } = await createDemoPayers(db, {
    network: ground.testnet.config,
    secret: ground.secret,
    wallets: Object.fromEntries(names.map((name) => [name, RICH])),
    now: new Date(),
  });
  await waitForChain(db, subjects);
  return names.map((name) => passes[name] ?? '');
}

async function limitNewest(db: Database, count: number): Promise<void> {
  await db.query(
    `update payers set limit_per_payment = $2, limit_per_day = $3
     where id in (select payer_id from passes where label like 'Demo: chaos_%'
       order by payer_id desc limit $1)`,
    [count, LIMITS.limitPerPayment, LIMITS.limitPerDay],
  );
}

/** The demo account with more counters and payers, made while a first process works. */
export async function fillWorld(
  ground: ChaosGround,
  db: Database,
  of: { readonly sandbox: SandboxFile; readonly size: WorldSize },
): Promise<ChaosWorld> {
  const { sandbox, size } = of;
  const { account: accountId, test } = sandbox;
  await db.query('update accounts set refund_daily_limit = $2 where id = $1', [
    accountId,
    size.refundDailyLimit,
  ]);
  await db.query(
    `insert into risk_settings (account_id, livemode, high_amount_confirm_from, updated)
     values ($1, false, $2, now())`,
    [accountId, CONFIRM_FROM],
  );
  const added = await addPayers(ground, db, size.payers);
  await limitNewest(db, size.limited);
  const rich = await db.query<{ label: string }>(
    `select s.label from passes s join payers p on p.id = s.payer_id
     where s.label like 'Demo: chaos_%' and p.limit_per_day is null`,
  );
  const richNames = new Set(rich.map((row) => row.label.replace('Demo: ', '')));
  const isRich = (_: string, number: number) => richNames.has(`chaos_${number}`);
  const poor = ['insufficient_funds', 'no_approval', 'over_limit', 'revoked', 'blocked'];
  return {
    accountId,
    secretKey: test.secret_key,
    agentTerminal: test.agent_terminal,
    terminals: await addTerminals(db, accountId, size.terminals),
    passes: added.filter(isRich),
    poorPasses: [
      ...added.filter((pass, number) => !isRich(pass, number)),
      ...poor.map((name) => test.passes[name] ?? ''),
    ],
    confirmPass: test.passes.confirm ?? '',
  };
}
