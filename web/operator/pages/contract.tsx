import { type ReactNode, useState } from 'react';
import type { ListProposalsResponse, ReadContractsResponse } from '../../data/types/operator.ts';
import { useFilters } from '../../desk/filters.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import type { ListPage } from '../../desk/pagination.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ContractState } from '../parts/contract-state.tsx';
import { DecideProposal } from '../parts/decide-proposal.tsx';
import { percent } from '../parts/fee-percent.ts';
import { isOpen, proposalWords } from '../parts/proposal-words.ts';
import { ContractDialog, type ContractWish } from '../parts/propose-contract-change.tsx';
import { Transactions } from '../parts/transactions-to-send.tsx';
import { useOperator, usePages, useRead } from '../use-operator.ts';

type Contract = ReadContractsResponse['data'][number];
type Proposal = ListProposalsResponse['data'][number];

const WATCH_MS = 10_000;

const CONTRACTS: readonly Column<Contract>[] = [
  { name: 'Network', cell: ({ network }) => network },
  { name: 'Chain', number: true, cell: ({ chain_id }) => String(chain_id) },
  {
    name: 'Contract',
    cell: ({ chain_id: chain, settlement, former }) => (
      <div>
        <span className="id">{settlement}</span>
        {former ? <p className="soft">A former contract</p> : null}
        <p>
          <a href={`contract#${new URLSearchParams({ chain: String(chain), settlement })}`}>
            Pause or cancel with your wallet
          </a>
        </p>
      </div>
    ),
  },
  { name: 'Accounts', number: true, cell: ({ accounts }) => String(accounts) },
  {
    name: 'Acquirer fee',
    number: true,
    cell: ({ rates }) => (rates === null ? 'Unknown' : percent(rates.acquirer)),
  },
  {
    name: 'Protocol fee',
    number: true,
    cell: ({ rates }) => (rates === null ? 'Unknown' : percent(rates.protocol)),
  },
  {
    name: 'Cashback',
    number: true,
    cell: ({ rates }) => (rates === null ? 'Unknown' : percent(rates.cashback)),
  },
];

function ProposalStatus({ proposal }: { readonly proposal: Proposal }): ReactNode {
  if (isOpen(proposal)) return <Status tone="warn">Awaiting approval</Status>;
  if (proposal.status === 'approved') return <Status tone="good">Approved</Status>;
  if (proposal.status === 'open') return <Status tone="plain">Expired</Status>;
  const isTakenBack = proposal.decided_by === proposal.proposed_by;
  return <Status tone="plain">{isTakenBack ? 'Retracted' : 'Rejected'}</Status>;
}

function Decided({ proposal }: { readonly proposal: Proposal }): ReactNode {
  const { status, decided_by: by, decision_reason: why } = proposal;
  if (status === 'open') return null;
  return (
    <div className="soft">
      <p>{by === null ? 'Self-approved' : `By ${by}`}</p>
      {why === null ? null : <p>{why}</p>}
    </div>
  );
}

const PROPOSALS: readonly Column<Proposal>[] = [
  {
    name: 'What',
    cell: (proposal) => (
      <div className="said">
        {proposalWords(proposal)}
        <p className="soft">{proposal.reason}</p>
      </div>
    ),
  },
  {
    name: 'Asked by',
    cell: ({ proposed_by: by, created }) => (
      <div>
        {by}
        <p className="soft">
          <Time at={created} />
        </p>
      </div>
    ),
  },
  {
    name: 'State',
    cell: (proposal) => (
      <div>
        <ProposalStatus proposal={proposal} />
        <Decided proposal={proposal} />
      </div>
    ),
  },
  {
    name: 'Change',
    cell: (proposal) => (
      <>
        <DecideProposal proposal={proposal} />
        <Transactions proposal={proposal} />
      </>
    ),
  },
];

/** Returns the next cursor, which is the last proposal's id. */
function nextProposal({ data, has_more: more }: ListPage<Proposal>): string | null {
  return more === true ? (data.at(-1)?.id ?? null) : null;
}

/** Shows the contract's fees and settings, and the proposals that two operators must approve. */
export function Contract(): ReactNode {
  const { mayChange } = useOperator();
  const [wish, setWish] = useState<ContractWish | null>(null);
  const filters = useFilters();
  const contracts = useRead('GET /contracts', undefined, { everyMs: WATCH_MS });
  const proposals = usePages('GET /proposals', {}, { everyMs: WATCH_MS });
  const actions = mayChange ? (
    <>
      <Button kind="danger" onClick={() => setWish('pause')}>
        Pause
      </Button>
      <Button onClick={() => setWish('unpause')}>Resume</Button>
      <Button kind="quiet" onClick={() => setWish('change_rates')}>
        Change rates
      </Button>
    </>
  ) : null;
  return (
    <Page title="Contract" actions={actions}>
      <LoadTogether>
        <Loaded query={contracts}>
          {({ data }) => (
            <Table
              label="Contracts"
              columns={CONTRACTS}
              rows={data}
              keyOf={({ settlement }) => settlement}
            />
          )}
        </Loaded>
        {contracts.data?.data.map((contract) => (
          <ContractState key={contract.settlement} contract={contract} />
        ))}
        <h2>Decisions that need two people</h2>
        <p className="soft">
          One operator proposes a pause, new rates or the block of a payer, and another one
          approves. An operator who works alone decides alone, and the audit log says so. The
          service does not hold the contract’s keys: the person who holds one sends the transactions
          that were approved. A guardian’s wallet need not wait for it: the contract’s page shows
          roles, pauses, balances and what is announced, and stops it. Keep{' '}
          <a href="contract.html">that page as a file</a> for when this service is down.
        </p>
        <LongList
          label="Proposals"
          pages={proposals}
          columns={PROPOSALS}
          keyOf={({ id }) => id}
          filters={filters}
          nextOf={nextProposal}
          empty={{
            drawing: 'calm',
            title: 'No proposals',
            text: 'Pauses, new rates and blocks that need a second person are listed here.',
          }}
        />
        {wish === null ? null : <ContractDialog wish={wish} onClose={() => setWish(null)} />}
      </LoadTogether>
    </Page>
  );
}
