import type { ReactNode } from 'react';
import type { ListCellsResponse } from '../../data/types/operator.ts';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';

type Cell = ListCellsResponse['data'][number];

function CellStatus({ waiting }: Pick<Cell, 'waiting'>): ReactNode {
  if (waiting === null) return <Status tone="bad">Does not answer</Status>;
  const { alarms, proposals, verifications } = waiting;
  if (alarms > 0) return <Status tone="bad">Action required</Status>;
  if (proposals + verifications > 0) return <Status tone="warn">Waiting</Status>;
  return <Status tone="good">Empty</Status>;
}

const COLUMNS: readonly Column<Cell>[] = [
  {
    name: 'Cell',
    cell: ({ cell, console_url: url }) =>
      url === null ? `Cell ${cell}` : <a href={`${url}/operator`}>Cell {cell}</a>,
  },
  { name: 'Status', cell: ({ waiting }) => <CellStatus waiting={waiting} /> },
  { name: 'Alarms', number: true, cell: ({ waiting }) => waiting?.alarms ?? '' },
  { name: 'Proposals', number: true, cell: ({ waiting }) => waiting?.proposals ?? '' },
  { name: 'Verifications', number: true, cell: ({ waiting }) => waiting?.verifications ?? '' },
];

/**
 * Lists the network's other cells with links to their consoles. Renders nothing for a network with
 * one cell.
 */
export function OtherCells({ others }: { readonly others: readonly Cell[] }): ReactNode {
  if (others.length === 0) return null;
  return (
    <section className="stack">
      <h2>Other cells</h2>
      <Table
        label="Other cells"
        columns={COLUMNS}
        rows={others}
        keyOf={({ cell }) => String(cell)}
      />
    </section>
  );
}
