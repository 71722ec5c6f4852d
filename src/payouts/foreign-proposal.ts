import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { mailOwners } from '#people/owner-mail.ts';
import type { ForeignProposal } from '#settlement/reconciliation/note-rules.ts';

/** Owners hear of it at once: their own wallet can cancel it on the contract, whoever is asleep. */
export function tellOfProposal(secretKey: Buffer) {
  return async (tx: Tx, proposal: ForeignProposal, now: Date): Promise<void> => {
    const { accountId, livemode, wallet, applicableAt } = proposal;
    await mailOwners(
      tx,
      { accountId, secretKey, now },
      {
        subject: 'Somebody has announced another wallet for your money',
        text:
          `Payouts on ${networkOf(livemode)} are to go to ${wallet} from ` +
          `${applicableAt.toISOString()} on. Nobody asked for that in your dashboard. Call ` +
          'cancelWallet on the settlement contract with your settlement wallet now, and tell the ' +
          'operator of the network: a key may be stolen.\n',
      },
    );
  };
}
