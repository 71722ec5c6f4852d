import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ListAlarmsResponse } from '../../data/types/operator.ts';
import { useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Page } from '../../ui/shell.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { MeasuredAt } from '../parts/measured-at.tsx';
import { Details } from '../parts/raw-fields.tsx';
import { ReasonButton } from '../parts/reason-button.tsx';
import { Runbook } from '../parts/runbook.tsx';
import { useOperator, usePages } from '../use-operator.ts';

type Alarm = ListAlarmsResponse['data'][number];

const WATCH_MS = 10_000;

const COLUMNS: readonly Column<Alarm>[] = [
  { name: 'Alarm', cell: ({ kind }) => <Runbook kind={kind} /> },
  { name: 'Network', cell: ({ network }) => network },
  { name: 'About', cell: ({ subject }) => <span className="id">{subject}</span> },
  { name: 'Since', cell: ({ created }) => <Time at={created} /> },
  { name: 'Details', cell: ({ details }) => <Details of={details} /> },
  { name: 'Change', cell: (alarm) => <Resolve alarm={alarm} /> },
];

export function Alarms(): ReactNode {
  const filters = useFilters();
  const pages = usePages('GET /alarms', {}, { everyMs: WATCH_MS });
  const newest = useQuery(pages.at(undefined));
  return (
    <Page title="Alarms">
      <MeasuredAt query={newest} />
      <LongList
        label="Alarms"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          drawing: 'calm',
          title: 'No open alarms',
          text:
            'Findings that need a person are listed here, each with its paragraph of the ' +
            'runbook.',
        }}
      />
    </Page>
  );
}

function Resolve({ alarm }: { readonly alarm: Alarm }): ReactNode {
  const { call, mayChange } = useOperator();
  const { id, kind, subject } = alarm;
  if (!mayChange) return null;
  return (
    <ReasonButton
      words={`Resolve ${id}`}
      title={`Alarm ${id}: ${kind}`}
      send="Resolve"
      hint="What you found. It is kept in the audit log."
      request={(reason) => call('POST /alarms/{id}/resolve', { path: { id }, body: { reason } })}
      said="Resolved."
    >
      <p>
        Confirm that you have looked into <span className="id">{subject}</span>. It is raised again
        if it happens again.
      </p>
    </ReasonButton>
  );
}
