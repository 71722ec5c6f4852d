import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ReadRecoveriesResponse } from '../../data/types/operator.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useRead } from '../use-operator.ts';
import { type Progress, progressOf } from './recovery-progress.ts';

type Recovery = ReadRecoveriesResponse['data'][number];

const WATCH_MS = 5_000;

function useRecoveries() {
  return useRead('GET /recoveries', undefined, { everyMs: WATCH_MS });
}

export function RecoveryStrip(): ReactNode {
  const running = useRecoveries().data?.data.filter(({ status }) => status === 'recovering') ?? [];
  return running.map((recovery) => (
    <Notice key={recovery.network} tone="bad" role="status">
      <strong>{recovery.network} is being recovered and takes no payments</strong>
      <ProgressBar progress={progressOf(recovery)} />
      <p>
        <Link href="/operator/reconciliation">View what it found</Link>
      </p>
    </Notice>
  ));
}

function ProgressBar({ progress }: { readonly progress: Progress }): ReactNode {
  const { share, words } = progress;
  return (
    <div className="stack stack-tight">
      {share === null ? null : (
        <progress className="reading" max={1} value={share} aria-label="Progress" />
      )}
      <p>{words}</p>
    </div>
  );
}

/** Texts for the reasons, by the API's codes. */
const REASONS: Readonly<Record<string, string>> = {
  cluster: 'Another database answers.',
  position: 'The database was restored from an earlier copy.',
  nonce: 'The chain has transactions that the database does not know.',
  reconciliation: 'Ledger and chain did not agree.',
  command: 'An operator started it with a command.',
};

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

function foundWords(recovery: Recovery): string {
  const { reason, loss_shown: isLoss, payments, refunds, withdrawals } = recovery;
  const { canceled, credentials } = recovery;
  return [
    REASONS[reason ?? ''] ?? 'The reason is unknown.',
    isLoss ? 'Data was lost.' : 'No loss has been found so far.',
    `Booked from the chain: ${counted(payments, 'payment')}, ${counted(refunds, 'refund')}, ` +
      `${counted(withdrawals, 'withdrawal')}.`,
    `Given up: ${counted(canceled, 'intent')}, ${counted(credentials, 'credential')}.`,
  ].join(' ');
}

const COLUMNS: readonly Column<Recovery>[] = [
  { name: 'Network', cell: ({ network }) => network },
  {
    name: 'State',
    cell: ({ status, started }) => {
      if (status === 'recovering') return <Status tone="bad">Recovering</Status>;
      return <Status tone="good">{started === null ? 'Never needed' : 'Done'}</Status>;
    },
  },
  {
    name: 'Progress',
    cell: (recovery) =>
      recovery.status === 'recovering' ? (
        <div className="said">
          <ProgressBar progress={progressOf(recovery)} />
        </div>
      ) : (
        ''
      ),
  },
  {
    name: 'Found',
    cell: (recovery) =>
      recovery.started === null ? (
        ''
      ) : (
        <div className="said">
          {foundWords(recovery)}
          <p className="soft">
            Began <Time at={recovery.started} />
            {recovery.finished === null ? null : ', ended '}
            {recovery.finished === null ? null : <Time at={recovery.finished} />}.
          </p>
        </div>
      ),
  },
];

export function Recoveries(): ReactNode {
  const query = useRecoveries();
  return (
    <section className="stack">
      <h2>Recovery</h2>
      <p className="soft">
        After the database is replaced by an earlier copy, the service reads the chain and books
        what the copy lacks. It starts and ends automatically. Until then the network takes no
        payments.
      </p>
      <Loaded query={query}>
        {({ data }) => (
          <Table label="Recovery" columns={COLUMNS} rows={data} keyOf={({ network }) => network} />
        )}
      </Loaded>
    </section>
  );
}
