import { lockOwnAccount } from '#accounts/account-queries.ts';
import { recordEntry } from '#audit/audit.ts';
import { isRefusal } from '#core/answer.ts';
import { hashSecret } from '#core/bearer-secrets.ts';
import { newId } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { cancelAnnounced } from '#payouts/cancel-wallet-change.ts';
import { type HoldLinkRow, insertHold, takeHoldLink } from '#payouts/payout-hold-queries.ts';
import { findHoldLink, mailedTo } from '#payouts/payout-holds.ts';
import {
  askWatchtower,
  BY_CONTRACT,
  type WalletChangeRow,
} from '#payouts/wallet-change-queries.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { queueMail } from '#people/mail-outbox.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';

const ACTOR = { type: 'system', name: 'link in a mail' } as const;
const MODES = [false, true];

/**
 * Consumes the link, holds the account's payouts and requests the cancellation of announced
 * wallets, in one transaction.
 * @returns undefined for an invalid link.
 */
export async function holdPayouts(
  people: Pick<PeopleDeps, 'db' | 'secretKey' | 'wakeups'>,
  input: {
    readonly token: string;
    readonly address: string;
    readonly requestId: string;
    readonly now: Date;
  },
): Promise<HoldLinkRow | undefined> {
  const { now } = input;
  const held = await people.db.transaction(async (tx) => {
    const link = await findHoldLink(tx, input);
    if (link === undefined) return undefined;
    const { account_id: accountId, change_id, email: heldBy } = link;
    // Lock the account as withdrawals do, so that withdrawals after this commit are held.
    const account = await lockOwnAccount(tx, accountId);
    if (!(await takeHoldLink(tx, { hash: hashSecret(input.token), now }))) return undefined;
    await stopWallets(tx, link, now);
    const id = newId('payoutHold', now);
    const hold = { id, account_id: accountId, change_id, held_by: heldBy, created: now };
    if (!(await insertHold(tx, hold))) return link;
    for (const to of await mailedTo(tx, { accountId, heldBy })) {
      await queueMail(tx, people.secretKey, {
        to,
        subject: 'Payouts from your Tapline account are on hold',
        text:
          `${heldBy} has held all payouts of ${accountInMail(account.name)} with the link of a ` +
          `mail about ${aboutOf(link)}. An owner can lift the hold in the dashboard.\n`,
        now,
      });
    }
    await recordEntry(tx, {
      auditLog: accountId,
      actor: ACTOR,
      action: 'payouts.held',
      objectId: id,
      livemode: null,
      before: null,
      after: {
        held_by: heldBy,
        change: change_id,
        ...(link.change_id === null ? { wallet: link.wallet } : {}),
        address: input.address,
        request: input.requestId,
      },
      now,
    });
    return link;
  });
  if (held !== undefined) {
    for (const livemode of MODES) people.wakeups.send('chain-requests', networkOf(livemode));
  }
  return held;
}

function aboutOf(link: HoldLinkRow): string {
  return link.change_id === null ? 'an announced settlement wallet' : 'a change of owners';
}

/**
 * Cancels an announced wallet, because anyone can apply it once its delay has passed. If another
 * party announced it, there may be no row yet, so it is canceled by the merchant's number; the
 * contract refuses if nothing is announced.
 */
async function stopWallets(tx: Tx, link: HoldLinkRow, now: Date): Promise<void> {
  const stopped: WalletChangeRow[] = [];
  for (const livemode of MODES) {
    const tenant = { accountId: link.account_id, livemode };
    // Returns a refusal if no wallet is announced.
    const rows = await cancelAnnounced(tx, { tenant, actor: ACTOR, now });
    if (!isRefusal(rows)) stopped.push(...rows);
  }
  if (link.change_id !== null) return;
  const { livemode, merchant_number } = link;
  const known = stopped.find((row) => row.livemode === livemode);
  if (known !== undefined && known.requested_by !== BY_CONTRACT) return;
  const subjectId = `${known?.id ?? newId('walletChange', now)}:cancel`;
  if (known === undefined) {
    const payload = { step: 'cancel', merchantNumber: merchant_number.toString() } as const;
    await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
  }
  // If a thief uses the registrar's key, its sender is stopped, so the watchtower cancels with its
  // own key.
  const reason = `link in a mail ${subjectId}`;
  await askWatchtower(tx, { livemode, merchantNumber: merchant_number, reason, now });
}
