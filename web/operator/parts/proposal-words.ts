import type { ListProposalsResponse } from '../../data/types/operator.ts';

export type Proposal = ListProposalsResponse['data'][number];

function rate(value: unknown): string {
  return typeof value === 'number' ? String(value) : '?';
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
      return `Let ${subject} go on`;
    case 'change_rates': {
      const { acquirer, protocol, cashback } = payload;
      const rates = `${rate(acquirer)}, ${rate(protocol)} and ${rate(cashback)} basis points`;
      return `Change the rates of ${subject} to ${rates}`;
    }
    default:
      return kind;
  }
}

export function isOpen(proposal: Proposal): boolean {
  return proposal.status === 'open' && Date.parse(proposal.expires_at) > Date.now();
}
