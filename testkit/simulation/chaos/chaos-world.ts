import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { DemoMode } from '#sandbox/demo-account.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { enrolPayers, type Filling } from '#testkit/simulation/ways/enrol-payers.ts';
import type { WayPayer } from '#testkit/simulation/ways/payers.ts';

/**
 * The participants of a chaos run on one network: a merchant with many terminals, and many payers.
 */
export interface ChaosWorld {
  readonly livemode: boolean;
  readonly accountId: string;
  readonly secretKey: string;
  readonly agentTerminal: string;
  readonly terminals: readonly { readonly id: string; readonly deviceKey: string }[];
  /** Passes that pay. */
  readonly passes: readonly string[];
  /**
   * Passes of payers who are always declined, for example because of a limit or an empty wallet.
   */
  readonly poorPasses: readonly string[];
  /** Payers for every way to pay. Only chaos runs have them. */
  readonly payers: readonly WayPayer[];
  /**
   * The pass of a payer who must confirm the first payment at each merchant; `null` if there is
   * none.
   */
  readonly confirmPass: string | null;
}

export interface WorldSize {
  readonly terminals: number;
  readonly payers: number;
  /** Number of payers that get individual limits. */
  readonly limited: number;
  /** Daily refund limit in atoms, so low that a run reaches it. */
  readonly refundDailyLimit: bigint;
}

const FUNDS = 10_000_000_000_000n;
/** The limits of a limited payer, in atoms. About a dozen payments reach them. */
const LIMITS = { limitPerPayment: 4_000_000, limitPerDay: 30_000_000 };
/** Payers in test mode must confirm payments from this amount on: about one in 25. */
const CONFIRM_FROM = 2_400_000;
const ACTOR = { type: 'system', name: 'chaos' } as const;

async function addTerminals(db: Database, tenant: Tenant, count: number) {
  const terminals: { id: string; deviceKey: string }[] = [];
  for (let number = 0; number < count; number++) {
    const created = await db.transaction((tx) =>
      createTerminal(tx, { tenant, label: `Counter ${number}`, actor: ACTOR, now: new Date() }),
    );
    const { row, secret } = accepted(created);
    terminals.push({ id: row.id, deviceKey: secret });
  }
  return terminals;
}

async function addPayers(ground: Filling, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, number) => `chaos_${number}`);
  const passes = await enrolPayers(ground, names, FUNDS);
  return names.map((name) => passes[name] ?? '');
}

async function limitNewest({ db, network }: Filling, count: number): Promise<void> {
  await db.query(
    `update payers set limit_per_payment = $2, limit_per_day = $3
     where id in (select s.payer_id from passes s join payers p on p.id = s.payer_id
       where s.label like 'Demo: chaos_%' and p.livemode = $4 order by s.payer_id desc limit $1)`,
    [count, LIMITS.limitPerPayment, LIMITS.limitPerDay, network.livemode],
  );
}

async function selectRich({ db, network }: Filling): Promise<Set<string>> {
  const rows = await db.query<{ label: string }>(
    `select s.label from passes s join payers p on p.id = s.payer_id
     where s.label like 'Demo: chaos_%' and p.limit_per_day is null and p.livemode = $1`,
    [network.livemode],
  );
  return new Set(rows.map((row) => row.label.replace('Demo: ', '')));
}

/** Adds terminals and payers to the demo account while the first process is running. */
export async function fillWorld(
  ground: Filling,
  { sandbox, size }: { readonly sandbox: SandboxFile; readonly size: WorldSize },
): Promise<ChaosWorld> {
  const { db, network } = ground;
  const { livemode } = network;
  const { account: accountId } = sandbox;
  const mode: DemoMode = livemode ? sandbox.live : sandbox.test;
  await db.query('update accounts set refund_daily_limit = $2 where id = $1', [
    accountId,
    size.refundDailyLimit,
  ]);
  await db.query(
    `insert into risk_settings (account_id, livemode, high_amount_confirm_from, updated)
     values ($1, $2, $3, now())`,
    [accountId, livemode, livemode ? null : CONFIRM_FROM],
  );
  const added = await addPayers(ground, size.payers);
  await limitNewest(ground, size.limited);
  const richNames = await selectRich(ground);
  const isRich = (_: string, number: number) => richNames.has(`chaos_${number}`);
  const poor = ['insufficient_funds', 'no_approval', 'over_limit', 'revoked', 'blocked'];
  return {
    livemode,
    accountId,
    secretKey: mode.secret_key,
    agentTerminal: mode.agent_terminal,
    terminals: await addTerminals(db, { accountId, livemode }, size.terminals),
    passes: added.filter(isRich),
    payers: [],
    poorPasses: [
      ...added.filter((pass, number) => !isRich(pass, number)),
      ...poor.flatMap((name) => mode.passes[name] ?? []),
    ],
    confirmPass: mode.passes.confirm ?? null,
  };
}
