import type { ListProposalsResponse } from '../../data/types/operator.ts';
import { percent } from './fee-percent.ts';

export type Proposal = ListProposalsResponse['data'][number];

function rate(value: unknown): string {
  return typeof value === 'number' ? percent(value) : '?';
}

export function proposalWords({ kind, subject, payload }: Proposal): string {
  switch (kind) {
    case 'block_payer':
      return `Block payer ${subject}`;
    case 'unblock_payer':
      return `Unblock payer ${subject}`;
    case 'pause':
      return `Pause ${subject}`;
    case 'unpause':
      return `Resume ${subject}`;
    case 'change_rates': {
      const { acquirer, protocol, cashback } = payload;
      const fees = `acquirer fee ${rate(acquirer)}, protocol fee ${rate(protocol)}`;
      return `Change the rates of ${subject}: ${fees}, cashback ${rate(cashback)}`;
    }
    case 'accept_foreign':
      return `Book what was settled for ${subject} with a key that someone else used`;
    case 'refuse_foreign':
      return `Keep apart what was settled for ${subject} with a key that someone else used`;
    case 'approve_account':
      return `Verify the business ${subject}`;
    case 'disable_account':
      return `Disable the account ${subject}`;
    case 'enable_account':
      return `Enable the account ${subject}`;
    case 'rename_account':
      return `Accept the new name of ${subject}`;
    case 'make_operator':
      return `Let ${subject} edit`;
    default:
      return kind;
  }
}

export function isOpen(proposal: Proposal): boolean {
  return proposal.status === 'open' && Date.parse(proposal.expires_at) > Date.now();
}

/** Returns a function for the confirmation text: `done` if no colleague must approve. */
export function saidOf(done: string) {
  return ({ proposal }: { readonly proposal: string | null }): string =>
    proposal === null ? done : 'Sent. A colleague has to approve it.';
}
