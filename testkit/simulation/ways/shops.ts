import { SCOPES } from '#accounts/api-key-scopes.ts';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { issueApiKey } from '#accounts/create-api-key.ts';
import type { Sql, Tx } from '#db/database.ts';
import { signMerchantConsent } from '#sandbox/demo-wallets.ts';
import { wallet } from '#sandbox/derive-wallets.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { setLimits } from '#testkit/apis/offline-sales.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { REST_MS, type RestoreGround } from '#testkit/simulation/restore-ground.ts';

/** A merchant's terminal on the test network, with the credentials of its devices. */
export interface Till {
  readonly account: string;
  readonly secretKey: string;
  readonly terminal: string;
  readonly deviceKey: string;
  /** A terminal without a device, which sells to agents. */
  readonly agentTerminal: string;
}

const ACTOR = { type: 'system', name: 'tests' } as const;

async function addTerminal(tx: Tx, accountId: string, label: string) {
  const tenant = { accountId, livemode: false };
  const made = accepted(await createTerminal(tx, { tenant, label, actor: ACTOR, now: new Date() }));
  await allowOffline(tx, made.row.id);
  return made;
}

/** Allows a terminal to sell offline, with limits that no fault test reaches. */
export async function allowOffline(sql: Sql, terminalId: string): Promise<void> {
  await setLimits({ store: { db: sql, terminalId } });
}

export function demoTill({ sandbox }: RestoreGround): Till {
  const { secret_key, terminal, device_key, agent_terminal } = sandbox.test;
  return {
    account: sandbox.account,
    secretKey: secret_key,
    terminal,
    deviceKey: device_key,
    agentTerminal: agent_terminal,
  };
}

/** Adds another terminal to the merchant, and one that sells to agents. */
export async function addTill({ db }: RestoreGround, till: Till, label: string): Promise<Till> {
  const { row, secret } = await db.transaction((tx) => addTerminal(tx, till.account, label));
  return { ...till, terminal: row.id, deviceKey: secret, agentTerminal: row.id };
}

/** Returns the wallet that is registered on the contract for the merchant. */
export function shopWallet({ secret }: RestoreGround['ground'], accountId: string) {
  return wallet(secret, `settlement wallet of ${accountId}`);
}

export function shopOwner(name: string) {
  return { email: `${name}@shop.test`, password: `the password of ${name}, which is long` };
}

async function registerOnChain({ db, ground }: RestoreGround, accountId: string): Promise<void> {
  const now = new Date();
  const network = ground.testnet.config;
  const account = shopWallet(ground, accountId);
  const consent = await signMerchantConsent(account, { network, accountId, now });
  const subjectId = `${accountId}:${network.network}`;
  await db.transaction(async (tx) => {
    await tx.query(
      'update account_modes set settlement_wallet = $2 where account_id = $1 and not livemode',
      [accountId, account.address],
    );
    const payload = { accountId, ...consent };
    const wish = { livemode: false, kind: 'merchant_registration', subjectId, payload } as const;
    await requestOnChain(tx, { ...wish, now });
  });
  const isLive = async () =>
    (
      await db.query(
        `select from account_modes where account_id = $1 and not livemode
           and live_at is not null`,
        [accountId],
      )
    ).length === 1;
  if (!(await waitUntil(isLive, REST_MS))) throw new Error('a merchant was not registered');
}

/** Adds a merchant that signs up and is registered on the chain. */
export async function addShop(world: RestoreGround, name: string): Promise<Till> {
  const { db } = world;
  const owner = { ...shopOwner(name), name };
  const now = new Date();
  const made = await createAccountWithOwner(db, { accountName: name, owner, actor: ACTOR, now });
  const { accountId } = accepted(made);
  await db.query(`update accounts set kyb_status = 'approved' where id = $1`, [accountId]);
  await registerOnChain(world, accountId);
  return db.transaction(async (tx) => {
    const tenant = { accountId, livemode: false };
    const key = await issueApiKey(tx, {
      ...{ tenant, name: 'server', scopes: SCOPES, ipAllowlist: [], expiresAt: null },
      ...{ actor: ACTOR, now, rotatedFrom: null },
    });
    const { row, secret } = await addTerminal(tx, accountId, 'Counter');
    const { row: agents } = await addTerminal(tx, accountId, 'Agents');
    return {
      account: accountId,
      secretKey: key.secret,
      terminal: row.id,
      deviceKey: secret,
      agentTerminal: agents.id,
    };
  });
}
