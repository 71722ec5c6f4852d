import { lockAccount, selectMode } from '#accounts/account-queries.ts';
import { type Actor, actorId } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { kybRequired } from '#accounts/create-api-key.ts';
import {
  deletePreparation,
  type GoLiveRow,
  insertGoLive,
  replacePreparation,
  selectGoLive,
  selectPreparation,
} from '#accounts/go-live-queries.ts';
import { mailOwners } from '#accounts/owner-mail.ts';
import { checkNotHeld } from '#accounts/payout-holds.ts';
import { MAIL_TOPIC } from '#accounts/people.ts';
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

/** The first wallet of a mode, its consent checked. */
interface FirstWallet {
  readonly tenant: Tenant;
  readonly actor: Actor;
  readonly now: Date;
  readonly wallet: Hex;
  readonly consent: Consent;
  readonly secretKey: Buffer;
}

/** Whether the account may go live now. Locks its row. */
async function checkMayGoLive(tx: Tx, of: Pick<FirstWallet, 'tenant'>): Promise<Refusal | null> {
  const { tenant } = of;
  const account = present(await lockAccount(tx, tenant.accountId), 'account');
  if (tenant.livemode && account.kyb_status !== 'approved') return kybRequired('Live payments');
  const held = await checkNotHeld(tx, tenant.accountId);
  if (held !== null) return held;
  const mode = await selectMode(tx, tenant);
  const before = await selectGoLive(tx, tenant);
  if (mode?.live_at != null) {
    return refuse('unexpected_state', 'The account is live on this network already.');
  }
  if (before?.status === 'pending') {
    return refuse('unexpected_state', 'Going live is under way: the chain has not answered yet.');
  }
  return null;
}

async function write(tx: Tx, of: FirstWallet): Promise<GoLiveRow | Refusal> {
  const { tenant, actor, now, wallet } = of;
  const refused = await checkMayGoLive(tx, of);
  if (refused !== null) return refused;
  await deletePreparation(tx, tenant);
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
  await mailOwners(tx, { ...of, accountId }, firstWalletMail(of));
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

function firstWalletMail(of: Pick<FirstWallet, 'tenant' | 'wallet'>) {
  return {
    subject: 'Your Tapline account goes live: where payouts go',
    text:
      `The account goes live on ${networkOf(of.tenant.livemode)}. Payouts will go to ` +
      `${of.wallet}. If this is not your wallet, talk to the network's operator now.\n`,
  };
}

/** A wallet that an admin has prepared; only an owner's yes puts it into force. */
function preparedMail(of: Pick<FirstWallet, 'tenant' | 'wallet'>) {
  return {
    subject: 'A settlement wallet waits for your decision',
    text:
      `An admin has prepared going live on ${networkOf(of.tenant.livemode)}. Payouts would go to ` +
      `${of.wallet}. Confirm it in the dashboard if this is right; otherwise do nothing.\n`,
  };
}

interface GoLiveInput {
  readonly tenant: Tenant;
  readonly actor: Actor;
  readonly now: Date;
  readonly consent: Consent;
}

type GoLiveWork = GoLiveDeps & { readonly secretKey: Buffer };

/** The wallet, once it is sure that it has signed this consent. */
async function readConsent(
  deps: Pick<GoLiveDeps, 'chains'>,
  { tenant, consent, now }: GoLiveInput,
): Promise<Hex | Refusal> {
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
  return forged ?? wallet;
}

/**
 * Registers the account on the settlement contract of the mode's network, with the consent of the
 * wallet that will get its money. Answers `pending`; the chain's answer follows within seconds.
 * The caller has checked that an owner with a fresh factor asks.
 */
export async function goLive(deps: GoLiveWork, of: GoLiveInput): Promise<GoLiveRow | Refusal> {
  const wallet = await readConsent(deps, of);
  if (isRefusal(wallet)) return wallet;
  const { secretKey } = deps;
  const row = await deps.db.transaction((tx) => write(tx, { ...of, wallet, secretKey }));
  deps.wakeups.send('chain-requests', networkOf(of.tenant.livemode));
  deps.wakeups.send(MAIL_TOPIC);
  return row;
}

/** Keeps a signed consent until an owner confirms it. Nothing goes to the chain. */
export async function prepareGoLive(deps: GoLiveWork, of: GoLiveInput): Promise<null | Refusal> {
  const wallet = await readConsent(deps, of);
  if (isRefusal(wallet)) return wallet;
  const { tenant, actor, now, consent } = of;
  const { secretKey } = deps;
  const { accountId, livemode } = tenant;
  const refused = await deps.db.transaction(async (tx) => {
    const early = await checkMayGoLive(tx, of);
    if (early !== null) return early;
    const preparedBy = actorId(actor);
    await replacePreparation(tx, { tenant, consent: { ...consent, wallet }, preparedBy, now });
    await mailOwners(tx, { accountId, secretKey, now }, preparedMail({ tenant, wallet }));
    await recordChange(tx, {
      chain: accountId,
      actor,
      action: 'go_live.prepared',
      objectId: accountId,
      livemode,
      before: null,
      after: { wallet },
      now,
    });
    return null;
  });
  deps.wakeups.send(MAIL_TOPIC);
  return refused;
}

/** Goes live with the wallet that an admin has prepared: exactly the one that the owner saw. */
export async function confirmGoLive(
  deps: GoLiveWork,
  of: Omit<GoLiveInput, 'consent'> & { readonly wallet: string },
): Promise<GoLiveRow | Refusal> {
  const prepared = await selectPreparation(deps.db, of);
  if (prepared === undefined || prepared.wallet.toLowerCase() !== of.wallet.toLowerCase()) {
    return refuse(
      'unexpected_state',
      'This wallet is not prepared, or its signature is too old: have it prepared again.',
    );
  }
  return goLive(deps, { ...of, consent: prepared });
}
