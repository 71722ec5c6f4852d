import { valueIn } from '../data/api.ts';
import type { SignedApproval } from './approval-machine.ts';
import type { Opener } from './key-vault.ts';
import { unlock } from './keyring.ts';
import { checkContracts } from './pinned-contracts.ts';
import { problemOf } from './problem-words.ts';
import { deadlineAt, factsOf, signPermit, signPolicy } from './sign-permit-and-transfer.ts';
import type { ReadTerms } from './spending-limits-form.ts';
import type { Here } from './wallet-context.tsx';

export interface Agreement {
  readonly here: Here;
  readonly opener: Opener;
  /** `null` revokes the approval. */
  readonly agreed: ReadTerms | null;
}

/**
 * Signs permit and policy with the current nonces. If the token has no permits, first sends an
 * `approve` transaction and waits for its block.
 * @throws Error with a message for the user.
 */
export async function signAgreement({ here, opener, agreed }: Agreement): Promise<SignedApproval> {
  const { api, vault, network } = here;
  try {
    const account = await unlock(vault, opener);
    // Reads the wallet again, because another window may have used the nonces.
    const wallet = valueIn(await api.wallet());
    const { nonces } = wallet;
    const chain = checkContracts(network, factsOf(wallet));
    const common = { chain, deadline: deadlineAt(api.now()) };
    const value = agreed?.total ?? 0n;
    const permit =
      nonces.permit === null
        ? null
        : await signPermit(account, { ...common, value, nonce: nonces.permit });
    if (permit === null)
      await (await import('./approve-on-chain.ts')).approve(account, { chain, value });
    const allowed = permit === null ? {} : { permit };
    if (agreed === null) return { nonces, body: allowed };
    const { terms } = agreed;
    const policy = await signPolicy(account, { ...common, terms, nonce: nonces.policy });
    return { nonces, body: { ...allowed, policy } };
  } catch (error) {
    throw new Error(problemOf(error), { cause: error });
  }
}
