import type { DemoMode } from '#sandbox/demo-account.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { enrolPayers, type Filling } from '#testkit/simulation/ways/enrol-payers.ts';
import type { WayPayer } from '#testkit/simulation/ways/payers.ts';
import { addTerminal, type Till } from '#testkit/simulation/ways/shops.ts';

/**
 * The participants of a chaos run on one network: a merchant with many terminals, and many payers.
 */
export interface ChaosWorld extends Omit<Till, 'terminal' | 'deviceKey'> {
  readonly livemode: boolean;
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
const LIMITS = { perPayment: 4_000_000, perDay: 30_000_000 };
/** Payers in test mode must confirm payments from this amount on: about one in 25. */
const CONFIRM_FROM = 2_400_000;
const POOR = ['insufficient_funds', 'no_approval', 'over_limit', 'revoked', 'blocked'];

/** Adds terminals and payers to the demo account while the first process is running. */
export async function fillWorld(
  ground: Filling,
  { sandbox, size }: { readonly sandbox: SandboxFile; readonly size: WorldSize },
): Promise<ChaosWorld> {
  const { db, network } = ground;
  const { livemode } = network;
  const { account } = sandbox;
  const mode: DemoMode = livemode ? sandbox.live : sandbox.test;
  await db.query('update accounts set refund_daily_limit = $2 where id = $1', [
    account,
    size.refundDailyLimit,
  ]);
  await db.query(
    `insert into risk_settings (account_id, livemode, high_amount_confirm_from, updated)
     values ($1, $2, $3, now())`,
    [account, livemode, livemode ? null : CONFIRM_FROM],
  );
  const names = Array.from({ length: size.payers }, (_, number) => `chaos_${number}`);
  const enrolled = await enrolPayers(ground, names, FUNDS);
  const passes = names.map((name) => enrolled[name] ?? '');
  await db.query(
    `update payers p set limit_per_payment = $2, limit_per_day = $3
     from passes s where s.payer_id = p.id and s.label = any($1) and p.livemode = $4`,
    [
      names.slice(0, size.limited).map((name) => `Demo: ${name}`),
      ...[LIMITS.perPayment, LIMITS.perDay, livemode],
    ],
  );
  const terminals: { id: string; deviceKey: string }[] = [];
  for (let number = 0; number < size.terminals; number++) {
    const add = { tenant: { accountId: account, livemode }, label: `Counter ${number}` };
    terminals.push(await db.transaction((tx) => addTerminal(tx, add)));
  }
  return {
    livemode,
    account,
    secretKey: mode.secret_key,
    agentTerminal: mode.agent_terminal,
    terminals,
    passes: passes.slice(size.limited),
    payers: [],
    poorPasses: [
      ...passes.slice(0, size.limited),
      ...POOR.flatMap((name) => mode.passes[name] ?? []),
    ],
    confirmPass: mode.passes.confirm ?? null,
  };
}
