import { lockAccount, selectMode } from '#accounts/account-queries.ts';
import { type Actor, actorId } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { kybRequired } from '#accounts/create-api-key.ts';
import { type GoLiveRow, insertGoLive, selectGoLive } from '#accounts/go-live-queries.ts';
import {
  CONSENT_SECONDS,
  checkConsent,
  checkDeadline,
  readWallet,
} from '#accounts/wallet-consent.ts';
import { chainOf } from '#accounts/withdraw.ts';
import { only, present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { Chain } from '#settlement/chain.ts';
import { type Hex, requestOnChain } from '#settlement/requests.ts';
import { merchantConsent } from '#settlement/signed-messages.ts';

export interface GoLiveDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly chains: readonly Chain[];
}

export interface Consent {
  readonly wallet: string;
  /** Unix seconds. */
  readonly deadline: number;
  readonly signature: Hex;
}

/** Integers of typed data as decimal strings, the way wallets take them as JSON. */
export function typedDataJson(typedData: object): Json {
  const text = JSON.stringify(typedData, (_key, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  return JSON.parse(text) as Json;
}

/** What the settlement wallet has to sign (EIP-712) before {@link goLive}. */
export function goLiveConsent(
  deps: Pick<GoLiveDeps, 'chains'>,
  of: { readonly tenant: Tenant; readonly wallet: string; readonly now: Date },
): { readonly typedData: Json; readonly deadline: number } | Refusal {
  const chain = chainOf(deps.chains, of.tenant.livemode);
  const wallet = readWallet(of.wallet, chain);
  if (isRefusal(wallet)) return wallet;
  const deadline = Math.floor(of.now.getTime() / 1000) + CONSENT_SECONDS;
  const consent = { accountId: of.tenant.accountId, wallet, deadline: BigInt(deadline) };
  return { typedData: typedDataJson(merchantConsent(chain.config, consent)), deadline };
}

async function write(
  tx: Tx,
  of: {
    readonly tenant: Tenant;
    readonly actor: Actor;
    readonly now: Date;
    readonly wallet: Hex;
    readonly consent: Consent;
  },
): Promise<GoLiveRow | Refusal> {
  const { tenant, actor, now, wallet } = of;
  const account = present(await lockAccount(tx, tenant.accountId), 'account');
  if (tenant.livemode && account.kyb_status !== 'approved') return kybRequired('Live payments');
  const mode = await selectMode(tx, tenant);
  const before = await selectGoLive(tx, tenant);
  if (mode?.live_at != null) {
    return refuse('unexpected_state', 'The account is live on this network already.');
  }
  if (before?.status === 'pending') {
    return refuse('unexpected_state', 'Going live is under way: the chain has not answered yet.');
  }
  const id = newId('goLive', now);
  const row = { id, tenant, wallet, requestedBy: actorId(actor), now };
  const rows = await insertGoLive(tx, row);
  const { accountId, livemode } = tenant;
  await requestOnChain(tx, {
    livemode,
    kind: 'merchant_registration',
    subjectId: `${accountId}:${networkOf(livemode)}`,
    payload: {
      accountId,
      wallet,
      deadline: String(of.consent.deadline),
      signature: of.consent.signature,
    },
    now,
  });
  await recordChange(tx, {
    chain: accountId,
    actor,
    action: 'go_live.requested',
    objectId: id,
    livemode,
    before: null,
    after: { wallet },
    now,
  });
  return only(rows, 'go-live request');
}

/**
 * Registers the account on the settlement contract of the mode's network, with the consent of the
 * wallet that will get its money. Answers `pending`; the chain's answer follows within seconds.
 */
export async function goLive(
  deps: GoLiveDeps,
  of: {
    readonly tenant: Tenant;
    readonly actor: Actor;
    readonly now: Date;
    readonly consent: Consent;
  },
): Promise<GoLiveRow | Refusal> {
  const { tenant, consent, now } = of;
  const chain = chainOf(deps.chains, tenant.livemode);
  const wallet = readWallet(consent.wallet, chain);
  if (isRefusal(wallet)) return wallet;
  const late = checkDeadline(consent.deadline, now);
  if (late !== null) return late;
  const typedData = merchantConsent(chain.config, {
    accountId: tenant.accountId,
    wallet,
    deadline: BigInt(consent.deadline),
  });
  const forged = await checkConsent(chain, { wallet, typedData, signature: consent.signature });
  if (forged !== null) return forged;
  const row = await deps.db.transaction((tx) => write(tx, { ...of, wallet }));
  deps.wakeups.send('chain-requests', networkOf(tenant.livemode));
  return row;
}
