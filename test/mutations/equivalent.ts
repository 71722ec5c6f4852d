import type { Mutation } from './mutation.ts';

/** A mutation that no test can notice, and why: the mutated program does the same in every case. */
interface Proof {
  readonly file: string;
  readonly from: string;
  /** What stands right before the place: the same text may be there more than once. */
  readonly behind: string;
  readonly proof: string;
}

const PROOFS: readonly Proof[] = [
  {
    file: 'src/settlement/transaction-queries.ts',
    from: '\n         and t.valid_until < $2',
    behind: "t.status = 'signed'",
    proof:
      'signed_until is the greatest valid_until that a request was signed with, and the outer ' +
      'condition asks signed_until < $2. The term only spares the join its rows.',
  },
  {
    file: 'src/refunds/queries.ts',
    from: ' for update',
    behind: 'from refunds where id = any($1) order by id',
    proof:
      'Whoever ends a refund holds the lock of its one chain request (takeOutcomes) until it ' +
      'commits, and a rebuilt refund has no request. So nobody else changes the row meanwhile.',
  },
  {
    file: 'src/accounts/withdrawal-queries.ts',
    from: ' for update',
    behind: 'from withdrawals where id = any($1) order by id',
    proof:
      'Whoever ends a withdrawal holds the lock of its one chain request (takeOutcomes) until it ' +
      'commits, and a rebuilt withdrawal has no request. So nobody else changes the row meanwhile.',
  },
];

/** The proof that the mutation changes nothing, or undefined. */
export function proofOf(mutation: Mutation, source: string): string | undefined {
  const offset = mutation.offset ?? source.indexOf(mutation.from);
  const before = source.slice(0, offset);
  return PROOFS.find(
    ({ file, from, behind }) =>
      file === mutation.file && from === mutation.from && before.endsWith(behind),
  )?.proof;
}
