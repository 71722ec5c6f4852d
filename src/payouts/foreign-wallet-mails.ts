import { networkOf } from '#core/mode.ts';
import { exactUsdc } from '#core/sums.ts';

import type { Tx } from '#db/database.ts';
import { mailAboutFoundWallet } from '#payouts/wallet-mail.ts';
import { mailOwners } from '#people/owner-mail.ts';
import type { Mailing } from '#people/people-context.ts';
import type { ForeignMovements } from '#settlement/foreign-settlement-queries.ts';
import type { ForeignProposal } from '#settlement/reconciliation/note-contract-changes.ts';

/**
 * Notifies owners immediately of a wallet that another party announced, with a link that cancels
 * it.
 */
export function mailProposal(people: Mailing) {
  return async (tx: Tx, proposal: ForeignProposal, now: Date): Promise<void> => {
    const { accountId, livemode, applicableAt, ...rest } = proposal;
    await mailAboutFoundWallet(tx, people, {
      accountId,
      proposed: { livemode, ...rest },
      subject: 'Another wallet was announced for your payouts',
      what:
        `Payouts on ${networkOf(livemode)} are to go to ${rest.wallet} from ` +
        `${applicableAt.toISOString()} on. This change was not requested in your dashboard.`,
      also:
        'Tell the operator of the network: a key may be stolen. If the service does not answer, ' +
        'call cancelWallet on the settlement contract with your settlement wallet.',
      now,
    });
  };
}

/**
 * Notifies owners that their current settlement wallet has announced another one on the contract.
 */
export function mailOwnProposal(people: Mailing) {
  return async (tx: Tx, proposal: ForeignProposal, now: Date): Promise<void> => {
    const { accountId, livemode, applicableAt, ...rest } = proposal;
    await mailAboutFoundWallet(tx, people, {
      accountId,
      proposed: { livemode, ...rest },
      subject: 'Your settlement wallet has announced another wallet',
      what:
        `Payouts on ${networkOf(livemode)} are to go to ${rest.wallet} from ` +
        `${applicableAt.toISOString()} on. The present settlement wallet announced it on ` +
        'the contract itself, not through your dashboard. No payouts are made until then.',
      also: 'If none of you did this, the key of the present settlement wallet may be stolen.',
      now,
    });
  };
}

/** Notifies owners that the wallet has changed without an announcement in the dashboard. */
export async function mailWalletChanged(
  tx: Tx,
  people: Mailing,
  changed: Omit<ForeignProposal, 'applicableAt'> & { readonly previousWallet: string },
  now: Date,
): Promise<void> {
  const { accountId, previousWallet, ...proposed } = changed;
  await mailAboutFoundWallet(tx, people, {
    accountId,
    proposed,
    subject: 'The settlement wallet of your account has changed',
    what:
      `Payouts on ${networkOf(proposed.livemode)} go to ${proposed.wallet} from now on, no ` +
      `longer to ${previousWallet}. The contract says so; your dashboard did not request it.`,
    also:
      'If you did not want this, tell the operator of the network at once: a key may be stolen. ' +
      'The wallet is in effect, so only another change replaces it.',
    isInForce: true,
    now,
  });
}

/** Maximum number of entries in a mail. The operators' alarm lists all. */
const NAMED = 20;

/** Notifies owners of their payments, refunds and withdrawals that this service did not send. */
export function mailMovements(secretKey: Buffer) {
  return async (tx: Tx, movements: ForeignMovements, now: Date): Promise<void> => {
    const { accountId, livemode, moved } = movements;
    const lines = moved
      .slice(0, NAMED)
      .map(({ kind, amount, tx_hash }) => `${kind} of ${exactUsdc(amount)} USDC, ${tx_hash}`);
    const others = moved.length - lines.length;
    if (others > 0) lines.push(`and ${others} more`);
    await mailOwners(
      tx,
      { accountId, secretKey, now },
      {
        subject: 'The contract moved your money without a request from Tapline',
        text:
          `On ${networkOf(livemode)} the settlement contract shows what your dashboard does not:` +
          `\n\n${lines.join('\n')}\n\nA key of the network may be stolen. Its operators were ` +
          'alerted. Deliver nothing for a payment that your dashboard does not show. Further ' +
          'findings of the same day are not mailed.\n',
      },
    );
  };
}
