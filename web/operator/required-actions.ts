import type {
  ListAlarmsResponse,
  ListNameRequestsResponse,
  ListProposalsResponse,
  ListVerificationQueueResponse,
  ReadQueuesResponse,
} from '../data/types/operator.ts';
import { type Difference, networkName, type ReadUpTo } from './ledger-differences.ts';
import { proposalWords } from './parts/proposal-words.ts';
import type { Network } from './use-networks.ts';

export interface Need {
  readonly key: string;
  readonly what: string;
  readonly about: string;
  /** `bad` if the problem affects money or customers until someone handles it. */
  readonly tone: 'bad' | 'warn';
  /** `null` if the start is unknown, because only the current state is known. */
  readonly since: string | null;
  readonly path: string;
}

export interface Known {
  readonly networks: readonly Network[];
  readonly alarms: ListAlarmsResponse['data'];
  readonly cursors: readonly ReadUpTo[];
  readonly differences: readonly Difference[];
  readonly submissions: ListVerificationQueueResponse['data'];
  readonly names: ListNameRequestsResponse['data'];
  readonly work: ReadQueuesResponse['data'];
  readonly proposals: ListProposalsResponse['data'];
  /** True if there are more alarms than listed here. */
  readonly moreAlarms: boolean;
  readonly moreDifferences: boolean;
}

function needsOfNetwork({ network, head, senders }: Network): Need[] {
  const away: Need = {
    key: `head ${network}`,
    what: 'No node answers',
    about: network,
    tone: 'bad',
    since: null,
    path: '/operator/relayers',
  };
  return [
    ...(head === null ? [away] : []),
    ...senders
      .filter(({ low }) => low)
      .map(
        ({ sender, address }): Need => ({
          key: `sender ${network} ${sender}`,
          what: `Sender ${sender} needs funds`,
          about: `${network}, ${address}`,
          tone: 'bad',
          since: null,
          path: '/operator/relayers',
        }),
      ),
  ];
}

function needsOfAlarms(alarms: Known['alarms']): Need[] {
  return alarms.map(({ id, kind, subject, network, created }) => ({
    key: `alarm ${id}`,
    what: `Alarm: ${kind.replaceAll('_', ' ')}`,
    about: `${network}, ${subject}`,
    tone: 'bad',
    since: created,
    path: '/operator/alarms',
  }));
}

function needsOfColleagues(proposals: Known['proposals']): Need[] {
  return proposals.map((proposal) => ({
    key: `proposal ${proposal.id}`,
    what: `Approve or reject: ${proposalWords(proposal)}`,
    about: `${proposal.proposed_by}: ${proposal.reason}`,
    tone: 'warn',
    since: proposal.created,
    path: '/operator/contract',
  }));
}

/** Returns an item that reports that the list is truncated. */
function needsOfMore({ moreAlarms, moreDifferences }: Known): Need[] {
  const more = (what: string, path: string): Need => {
    return { key: what, what, about: 'Older ones', tone: 'bad', since: null, path };
  };
  return [
    ...(moreAlarms ? [more('More alarms', '/operator/alarms')] : []),
    ...(moreDifferences ? [more('More differences', '/operator/reconciliation')] : []),
  ];
}

function needsOfBooks(differences: readonly Difference[]): Need[] {
  return differences
    .filter(({ accepted_at: accepted }) => accepted === null)
    .map(({ id, kind, subject, livemode, first_seen: since }) => ({
      key: `difference ${id}`,
      what: `Difference: ${kind.replaceAll('_', ' ')}`,
      about: `${networkName(livemode)}, ${subject}`,
      tone: 'bad',
      since,
      path: '/operator/reconciliation',
    }));
}

/** Reports networks whose reconciliation has not run yet. */
function needsOfReading({ networks, cursors }: Pick<Known, 'networks' | 'cursors'>): Need[] {
  const compared = new Set(cursors.map(({ livemode }) => networkName(livemode)));
  return networks
    .filter(({ network }) => !compared.has(network))
    .map(({ network }) => ({
      key: `reading ${network}`,
      what: 'Ledger and chain have not been compared',
      about: network,
      tone: 'warn',
      since: null,
      path: '/operator/reconciliation',
    }));
}

function needsOfWork(work: Known['work']): Need[] {
  return work
    .filter(({ queue, waiting }) => queue === 'mails given up' && waiting > 0)
    .map(({ queue, waiting, oldest }) => ({
      key: queue,
      what: `${waiting} ${queue}`,
      about: 'The mail server refused them',
      tone: 'warn',
      since: oldest,
      path: '/operator/queues',
    }));
}

/**
 * Returns the items that require action: first those of unknown age, then the others, oldest first.
 */
export function needsOf(known: Known): Need[] {
  const { networks, alarms, differences, submissions, work, proposals } = known;
  const waiting = submissions.map(
    ({ account, name, submitted_at: since }): Need => ({
      key: `business ${account}`,
      what: `Verify the business ${name}`,
      about: account,
      tone: 'warn',
      since,
      path: `/operator/verification/${account}`,
    }),
  );
  const renamings = known.names.map(
    ({ account, name, requested_name: requestedName, created }): Need => ({
      key: `name ${account}`,
      what: `Review the new name of ${name}`,
      about: requestedName,
      tone: 'warn',
      since: created,
      path: `/operator/accounts/${account}`,
    }),
  );
  return [
    ...networks.flatMap(needsOfNetwork),
    ...needsOfMore(known),
    ...needsOfAlarms(alarms),
    ...needsOfColleagues(proposals),
    ...needsOfReading(known),
    ...needsOfBooks(differences),
    ...waiting,
    ...renamings,
    ...needsOfWork(work),
  ].sort((a, b) => (a.since ?? '').localeCompare(b.since ?? ''));
}
