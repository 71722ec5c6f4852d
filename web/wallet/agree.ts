import { valueIn } from '../data/api.ts';
import type { SignedApproval } from './approval-machine.ts';
import type { Here } from './here.tsx';
import { unlock } from './keyring.ts';
import { checkContracts } from './pins.ts';
import { deadlineAt, factsOf, signPermit, signPolicy } from './signing.ts';
import type { ReadTerms } from './terms.ts';
import type { Opener } from './vault.ts';
import { problemOf } from './words.ts';

export interface Agreement {
  readonly here: Here;
  readonly opener: Opener;
  /** null: nothing may be taken any more. */
  readonly agreed: ReadTerms | null;
}

/**
 * Permit and policy over the nonces of now. Where the token takes no permits, the wallet's own
 * transaction stands for one, and is in a block when this ends.
 * @throws Error with what to tell the person.
 */
export async function signAgreement({ here, opener, agreed }: Agreement): Promise<SignedApproval> {
  const { api, vault, network } = here;
  try {
    const account = await unlock(vault, opener);
    // Read again: another window may have signed since this one was opened.
    const wallet = valueIn(await api.wallet());
    const { nonces } = wallet;
    const chain = checkContracts(network, factsOf(wallet));
    const common = { chain, deadline: deadlineAt(api.now()) };
    const value = agreed?.total ?? 0n;
    const permit =
      nonces.permit === null
        ? null
        : await signPermit(account, { ...common, value, nonce: nonces.permit });
    if (permit === null) await (await import('./approve.ts')).approve(account, { chain, value });
    const allowed = permit === null ? {} : { permit };
    if (agreed === null) return { nonces, body: allowed };
    const { terms } = agreed;
    const policy = await signPolicy(account, { ...common, terms, nonce: nonces.policy });
    return { nonces, body: { ...allowed, policy } };
  } catch (error) {
    throw new Error(problemOf(error), { cause: error });
  }
}
