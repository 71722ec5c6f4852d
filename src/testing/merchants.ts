import { randomBytes } from 'node:crypto';
import { insertAccount } from '#accounts/account-queries.ts';
import { SCOPES, type Scope } from '#accounts/api-key-scopes.ts';
import { issueApiKey } from '#accounts/create-api-key.ts';
import type { Actor } from '#audit/audit.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { accepted } from '#testing/accepted.ts';

/** A merchant's objects in one mode. */
export interface TestMode {
  readonly tenant: Tenant;
  /** A key with every scope. */
  readonly key: string;
  readonly keyId: string;
  readonly terminal: string;
}

export interface TestMerchant {
  readonly accountId: string;
  readonly test: TestMode;
  readonly live: TestMode;
}

export interface KeyOptions {
  readonly scopes?: readonly Scope[];
  readonly ipAllowlist?: readonly string[];
  readonly expiresAt?: Date | null;
}

const SYSTEM: Actor = { type: 'system', name: 'tests' };

async function registerOnChain(db: Database, accountId: string): Promise<void> {
  await db.query(
    `update account_modes
     set merchant_number = 1 + (select count(*) from account_modes where merchant_number > 0),
       settlement_wallet = $2, live_at = now()
     where account_id = $1`,
    [accountId, `0x${randomBytes(20).toString('hex')}`],
  );
}

export async function addTestKey(
  db: Database,
  tenant: Tenant,
  options: KeyOptions & { readonly now: Date },
): Promise<{ readonly id: string; readonly secret: string }> {
  const issued = await db.transaction((tx) =>
    issueApiKey(tx, {
      tenant,
      name: 'test',
      scopes: options.scopes ?? SCOPES,
      ipAllowlist: options.ipAllowlist ?? [],
      expiresAt: options.expiresAt ?? null,
      actor: SYSTEM,
      now: options.now,
      rotatedFrom: null,
    }),
  );
  return { id: issued.row.id, secret: issued.secret };
}

async function addMode(db: Database, tenant: Tenant, now: Date): Promise<TestMode> {
  const terminal = await db.transaction((tx) =>
    createTerminal(tx, { tenant, label: 'Counter', actor: SYSTEM, now }),
  );
  const { id, secret } = await addTestKey(db, tenant, { now });
  return { tenant, key: secret, keyId: id, terminal: accepted(terminal).row.id };
}

/** Adds an approved merchant. It is live on both networks, unless `live` is false. */
export async function addTestMerchant(
  db: Database,
  options: { readonly now: Date; readonly live?: boolean },
): Promise<TestMerchant> {
  const { now, live = true } = options;
  const accountId = newId('account', now);
  await db.transaction((tx) => insertAccount(tx, { id: accountId, name: 'Test shop', now }));
  await db.query(`update accounts set kyb_status = 'approved' where id = $1`, [accountId]);
  if (live) await registerOnChain(db, accountId);
  return {
    accountId,
    test: await addMode(db, { accountId, livemode: false }, now),
    live: await addMode(db, { accountId, livemode: true }, now),
  };
}
