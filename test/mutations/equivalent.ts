import type { Mutation } from './mutation.ts';

/**
 * A mutation that no test can detect, with the reason: the mutated program behaves the same in
 * every case.
 */
export interface Proof {
  readonly file: string;
  readonly from: string;
  /** The text right before the mutated place, because the same code may occur more than once. */
  readonly behind: string;
  readonly proof: string;
}

const PROOFS: readonly Proof[] = [
  {
    file: 'src/settlement/relayer/track/store-job-results.ts',
    from: '>',
    behind: 'isRevived: revived.length ',
    proof: 'A wake-up is a hint: one too many looks for outcomes once more, and changes nothing.',
  },
  {
    file: 'src/settlement/relayer/track/decline-dead-payments.ts',
    from: 'least, confirmations',
    behind: 'return BigInt(Math.max(',
    proof: 'The greater of two numbers is the same whichever is named first.',
  },
  {
    file: 'src/settlement/relayer/jobs/job-queries.ts',
    from: '\n         and t.valid_until < $2',
    behind: "t.status = 'signed'",
    proof:
      'signed_until is the greatest valid_until that a request was signed with, and the outer ' +
      'condition asks signed_until < $2. The term only spares the join its rows.',
  },
  {
    file: 'src/refunds/refund-queries.ts',
    from: ' for update',
    behind: 'from refunds where id = any($1) order by id',
    proof:
      'A refund is ended under the lock of its one chain request (takeOutcomes), which is held ' +
      'until the commit. A rebuilt refund has no request. So nobody else changes the row.',
  },
  {
    file: 'src/payouts/withdrawal-queries.ts',
    from: ' for update',
    behind: 'from withdrawals where id = any($1) order by id',
    proof:
      'A withdrawal is ended under the lock of its one chain request (takeOutcomes), which is ' +
      'held until the commit. A rebuilt withdrawal has no request. So nobody else changes the row.',
  },
  {
    file: 'src/payments/authorize-link.ts',
    from: 'from, signature',
    behind: 'requestOf(link, ',
    proof:
      'The key is a digest of both, and nothing else reads it. In the other order it is another ' +
      'digest of the same two, so the same wallet with the same signature has one key still.',
  },
  {
    file: 'src/idempotency/key-queries.ts',
    from: ' and i.livemode = wanted.livemode',
    behind: 'where i.account_id = wanted.account_id',
    proof:
      'Rows of the other mode come along, and nobody finds them: byKey names each row by its own ' +
      'account and mode. The term only spares the reading.',
  },
  {
    file: 'src/settlement/relayer/track/decline-dead-payments.ts',
    from: '<',
    behind: 'const deep = head.number ',
    proof:
      'They differ where the block at that depth is the first of the chain. The contract is not ' +
      'deployed yet there, so no validity ends before it, and nothing counts as dead.',
  },
  {
    file: 'src/settlement/relayer/track/watch-reorganizations.ts',
    from: 'await ',
    behind: 'if (sender === undefined) continue;\n    ',
    proof:
      'It writes nothing to the database and throws for no answer of a node. When it sent is ' +
      'noted before it waits for anything; a refusal is read by later turns, whenever a node ' +
      'gives it. So only the time changes at which a refusal is noted.',
  },
  {
    file: 'src/settlement/relayer/track/watch-reorganizations.ts',
    from: '>',
    behind: 'if (look ',
    proof: 'The first look comes a moment later, and asks once more which chain it is.',
  },
  {
    file: 'src/recovery/book-lost-events.ts',
    from: '>',
    behind: 'return a ',
    proof: 'The later of two equal heights is either.',
  },
];

/** Returns the proof that the mutation changes nothing, or `undefined`. */
export function proofOf(
  mutation: Mutation,
  source: string,
  proofs: readonly Proof[] = PROOFS,
): string | undefined {
  const offset = mutation.offset ?? source.indexOf(mutation.from);
  const before = source.slice(0, offset);
  return proofs.find(
    ({ file, from, behind }) =>
      file === mutation.file && from === mutation.from && before.endsWith(behind),
  )?.proof;
}
