import type { ReactNode } from 'react';
import type { ReadAnyPaymentResponse } from '../../data/types/operator.ts';
import { shortAddress } from '../../ui/address.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type ChainRequest = ReadAnyPaymentResponse['chain_requests'][number];
type Attempt = ChainRequest['attempts'][number];

const GWEI = 1e9;

function attemptWords({ cancels, mined }: Attempt): string {
  const what = cancels ? 'Cancellation transaction' : 'Signed';
  return mined ? `${what}, in a block` : what;
}

function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }): ReactNode {
  if (attempts.length === 0) return <>Nothing is signed</>;
  return (
    <ul>
      {attempts.map((attempt) => (
        <li key={attempt.tx_hash}>
          <span className="id">{attempt.tx_hash}</span>
          <p className="soft small">
            {attemptWords(attempt)}, at most {Number(attempt.max_fee_per_gas) / GWEI} gwei,{' '}
            <Time at={attempt.created} shape="exact" />
          </p>
        </li>
      ))}
    </ul>
  );
}

const COLUMNS: readonly Column<ChainRequest>[] = [
  {
    name: 'Requested',
    cell: ({ kind, subject, created }) => (
      <div>
        {kind === 'payment' ? 'Payment' : 'Refund'}
        <p className="soft small">
          <span className="id">{subject}</span>
        </p>
        <p className="soft small">
          <Time at={created} shape="exact" />
        </p>
      </div>
    ),
  },
  {
    name: 'State',
    cell: ({ status, failure, blocked_by: blocked, booked_at: booked }) => (
      <div className="said">
        {status}
        {failure === null ? null : <p>{failure}</p>}
        {blocked === null ? null : <p>{blocked}</p>}
        {booked === null ? null : (
          <p className="soft small">
            Booked <Time at={booked} shape="exact" />
          </p>
        )}
      </div>
    ),
  },
  {
    name: 'Sender',
    cell: ({ sender, address }) =>
      sender === null ? (
        'None yet'
      ) : (
        <div>
          {sender}
          <p className="soft small">
            <span className="id" title={address ?? ''}>
              {shortAddress(address ?? '')}
            </span>
          </p>
        </div>
      ),
  },
  { name: 'Nonce', number: true, cell: ({ nonce }) => nonce },
  { name: 'Block', number: true, cell: ({ block_number: block }) => block },
  { name: 'Transactions', cell: ({ attempts }) => <Attempts attempts={attempts} /> },
];

export function ChainRequests({ rows }: { readonly rows: readonly ChainRequest[] }): ReactNode {
  if (rows.length === 0) return <p className="soft">There is no settlement job.</p>;
  return (
    <Table
      label="Settlement jobs"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ subject, created }) => `${subject} ${created}`}
    />
  );
}
