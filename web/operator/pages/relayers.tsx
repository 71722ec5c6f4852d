import type { ReactNode } from 'react';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { CopyAddress } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { MeasuredAt } from '../parts/measured-at.tsx';
import { type Network, type Sender, useNetworks } from '../use-networks.ts';

const WEI_DECIMALS = 18;
const SHOWN_DECIMALS = 3;

/** Formats wei, for example `0.123`, rounded down so that it never overstates the balance. */
function coin(wei: string): string {
  const digits = wei.padStart(WEI_DECIMALS + 1, '0');
  const whole = digits.slice(0, -WEI_DECIMALS);
  const decimals = digits.slice(-WEI_DECIMALS).slice(0, SHOWN_DECIMALS);
  return `${BigInt(whole).toLocaleString('en-US')}.${decimals}`;
}

/** Counts above this number, for example on a test network, are shown as "Over" it. */
const MANY = 1_000_000_000n;

function count(digits: string): ReactNode {
  const payments = BigInt(digits);
  const words = (payments > MANY ? MANY : payments).toLocaleString('en-US');
  return <span className="amount">{payments > MANY ? `Over ${words}` : words}</span>;
}

function CoinStatus({ sender }: { readonly sender: Sender }): ReactNode {
  if (sender.balanceWei === null) return <Status tone="warn">Unknown</Status>;
  return (
    <Status tone={sender.low ? 'bad' : 'good'}>{sender.low ? 'Needs funds' : 'Funded'}</Status>
  );
}

function NotMined({
  sender: { unmined, oldestUnmined: oldest },
}: {
  readonly sender: Sender;
}): ReactNode {
  if (oldest === null) return <>{unmined}</>;
  return (
    <>
      {unmined}, the oldest since <Time at={oldest} />
    </>
  );
}

const COLUMNS: readonly Column<Sender>[] = [
  { name: 'Sender', cell: ({ sender, role }) => `${sender} ${role}` },
  { name: 'Address', cell: ({ address }) => <CopyAddress address={address} /> },
  {
    name: 'Payments left',
    number: true,
    cell: ({ paymentsLeft: left }) => (left === null ? 'Unknown' : count(left)),
  },
  {
    name: 'Balance',
    number: true,
    cell: ({ balanceWei: wei }) => <span className="amount">{wei === null ? '' : coin(wei)}</span>,
  },
  { name: 'State', cell: (sender) => <CoinStatus sender={sender} /> },
  { name: 'Not mined', cell: (sender) => <NotMined sender={sender} /> },
  { name: 'Worker', cell: ({ owner }) => <span className="id">{owner ?? 'None'}</span> },
];

export function Relayers(): ReactNode {
  const query = useNetworks();
  return (
    <Page title="Relayers">
      <LoadTogether>
        <Loaded query={query}>
          {({ data }) => data.map((network) => <Senders key={network.network} network={network} />)}
        </Loaded>
        <p className="soft small">
          Payments left: how many the balance covers at current fees, if each is sent alone.
        </p>
        <MeasuredAt query={query} />
      </LoadTogether>
    </Page>
  );
}

/** The largest number of days that the service returns. */
const MANY_DAYS = 3_650;

function daysText(days: number): string {
  if (days >= MANY_DAYS) return 'Funds for more than ten years';
  if (days === 0) return 'Funds for less than a day';
  return `Funds for ${days} ${days === 1 ? 'day' : 'days'}`;
}

function Senders({ network: { network, ...rest } }: { readonly network: Network }): ReactNode {
  const { head, senders, daysLeft } = rest;
  return (
    <section className="stack">
      <div className="headline">
        <h2>{network}</h2>
        {head === null ? (
          <Status tone="bad">No node answers</Status>
        ) : (
          <span className="soft">
            Block {head.number} of <Time at={head.time} shape="exact" />
          </span>
        )}
      </div>
      {senders.length === 0 ? (
        <p className="soft">No senders yet: a worker creates them when it starts.</p>
      ) : (
        <Table
          label={`Senders on ${network}`}
          columns={COLUMNS}
          rows={senders}
          keyOf={({ sender }) => String(sender)}
        />
      )}
      {daysLeft !== null && <p>{daysText(daysLeft)} at last week’s number of payments.</p>}
    </section>
  );
}
