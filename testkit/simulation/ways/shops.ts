import { SCOPES } from '#accounts/api-key-scopes.ts';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { issueApiKey } from '#accounts/create-api-key.ts';
import type { Tenant } from '#core/mode.ts';
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

/** Adds a terminal. @returns its id, and the key of its device. */
export async function addTerminal(
  tx: Tx,
  added: { readonly tenant: Tenant; readonly label: string },
) {
  const made = await createTerminal(tx, { ...added, actor: ACTOR, now: new Date() });
  const { row, secret } = accepted(made);
  return { id: row.id, deviceKey: secret };
}

/** Allows a terminal to sell offline, with limits that no fault test reaches. */
export async function allowOffline(sql: Sql, terminalId: string): Promise<void> {
  await setLimits({ store: { db: sql, terminalId } });
}

export function demoTill({ sandbox }: RestoreGround): Till {
  const { secret_key: secretKey, device_key: deviceKey, ...mode } = sandbox.test;
  const { terminal, agent_terminal: agentTerminal } = mode;
  return { account: sandbox.account, secretKey, terminal, deviceKey, agentTerminal };
}

/** Adds another terminal to the merchant, and one that sells to agents. */
export async function addTill(
  { db }: RestoreGround,
  till: Pick<Till, 'account' | 'secretKey'>,
  label: string,
): Promise<Till> {
  const tenant = { accountId: till.account, livemode: false };
  const { id, deviceKey } = await db.transaction((tx) => addTerminal(tx, { tenant, label }));
  await allowOffline(db, id);
  return { ...till, terminal: id, deviceKey, agentTerminal: id };
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
  const live = `select from account_modes
    where account_id = $1 and not livemode and live_at is not null`;
  const isLive = async () => (await db.query(live, [accountId])).length === 1;
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
  const tenant = { accountId, livemode: false };
  const key = await db.transaction((tx) =>
    issueApiKey(tx, {
      ...{ tenant, name: 'server', scopes: SCOPES, ipAllowlist: [], expiresAt: null },
      ...{ actor: ACTOR, now, rotatedFrom: null },
    }),
  );
  const shop = { account: accountId, secretKey: key.secret };
  const { agentTerminal } = await addTill(world, shop, 'Agents');
  return { ...(await addTill(world, shop, 'Counter')), agentTerminal };
}
