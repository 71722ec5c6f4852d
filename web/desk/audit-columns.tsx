import type { ReactNode } from 'react';
import type { ListAuditLogResponse } from '../data/types/dashboard.ts';
import { CodeWords } from '../ui/code-words.tsx';
import type { Column } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

type Entry = ListAuditLogResponse['data'][number];

function actorWords({ actor }: Entry): string {
  const { email, name, type } = actor;
  return [email, name, type].find((one) => typeof one === 'string')?.toString() ?? '';
}

function modeWords(livemode: boolean): string {
  return livemode ? 'Live' : 'Test';
}

function Details({ entry }: { readonly entry: Entry }): ReactNode {
  const { before, after, request_id: request, address, hash } = entry;
  return (
    <details>
      <summary>Before and after</summary>
      <pre className="code">
        {JSON.stringify({ before, after, request, address, hash }, null, 2)}
      </pre>
    </details>
  );
}

/** What was done, and why where somebody had to say so. Names of operations are codes here, too. */
function What({ entry: { action, after } }: { readonly entry: Entry }): ReactNode {
  const reason = after?.reason;
  return (
    <>
      <CodeWords
        code={action.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}
      />
      {typeof reason === 'string' ? <p className="soft small">{reason}</p> : null}
    </>
  );
}

/**
 * Who changed what, when.
 *
 * @param of.withoutMode What a change belongs to that is about neither mode.
 * @param of.objectLink Leads to the page of an id, where it has one.
 */
export function auditColumns({
  withoutMode,
  objectLink,
}: {
  readonly withoutMode: string;
  readonly objectLink: (id: string) => ReactNode;
}): readonly Column<Entry>[] {
  return [
    { name: 'Number', number: true, cell: ({ sequence }) => String(sequence) },
    { name: 'When', cell: ({ created }) => <Time at={created} /> },
    { name: 'Who', cell: actorWords },
    { name: 'What', cell: (entry) => <What entry={entry} /> },
    { name: 'Object', cell: ({ object_id: id }) => objectLink(id) },
    {
      name: 'Mode',
      cell: ({ livemode }) => (livemode === null ? withoutMode : modeWords(livemode)),
    },
    { name: 'Details', cell: (entry) => <Details entry={entry} /> },
  ];
}
