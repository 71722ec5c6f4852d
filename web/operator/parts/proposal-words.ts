import type { ListProposalsResponse } from '../../data/types/operator.ts';
import { percent } from './percent.ts';

export type Proposal = ListProposalsResponse['data'][number];

function rate(value: unknown): string {
  return typeof value === 'number' ? percent(value) : '?';
}

/** What would be done. */
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
      return `Book what was settled for ${subject} with a key that somebody else has used`;
    case 'refuse_foreign':
      return `Keep apart what was settled for ${subject} with a key that somebody else has used`;
    default:
      return kind;
  }
}

export function isOpen(proposal: Proposal): boolean {
  return proposal.status === 'open' && Date.parse(proposal.expires_at) > Date.now();
}
