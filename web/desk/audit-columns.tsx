import type { ReactNode } from 'react';
import type { ListAuditLogResponse } from '../data/types/dashboard.ts';
import { CodeWords } from '../ui/code-words.tsx';
import type { Column } from '../ui/table.tsx';
import { t } from '../ui/text/t.ts';
import { given } from '../ui/text/untranslated-parts.ts';
import { Time } from '../ui/time.tsx';

type Entry = ListAuditLogResponse['data'][number];

function actorWords({ actor }: Entry): string {
  const { email, name, type } = actor;
  return given([email, name, type].find((one) => typeof one === 'string')?.toString());
}

function modeWords(livemode: boolean): string {
  return livemode ? t('desk.audit_columns.live') : t('desk.audit_columns.test');
}

function Details({ entry }: { readonly entry: Entry }): ReactNode {
  const { before, after, people, request_id: request, address, hash } = entry;
  return (
    <details>
      <summary>{t('desk.audit_columns.before_and_after.summary')}</summary>
      <pre className="code">
        {JSON.stringify({ before, after, people, request, address, hash }, null, 2)}
      </pre>
    </details>
  );
}

/** Shows the action and its reason, if there is one. Names of operations appear as codes. */
function What({ entry: { action, after } }: { readonly entry: Entry }): ReactNode {
  const reason = after?.reason;
  return (
    <>
      <CodeWords
        code={action.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}
      />
      {typeof reason === 'string' ? <p className="soft small">{given(reason)}</p> : null}
    </>
  );
}

/**
 * @param of.withoutMode Label for changes that belong to no mode.
 * @param of.objectLink Links an id to its page, if it has one.
 */
export function auditColumns({
  withoutMode,
  objectLink,
}: {
  readonly withoutMode: string;
  readonly objectLink: (id: string) => ReactNode;
}): readonly Column<Entry>[] {
  return [
    {
      name: t('desk.audit_columns.number.column'),
      number: true,
      cell: ({ sequence }) => String(sequence),
    },
    { name: t('desk.audit_columns.when.column'), cell: ({ created }) => <Time at={created} /> },
    { name: t('desk.audit_columns.who.column'), cell: actorWords },
    { name: t('desk.audit_columns.what.column'), cell: (entry) => <What entry={entry} /> },
    { name: t('desk.audit_columns.object.column'), cell: ({ object_id: id }) => objectLink(id) },
    {
      name: t('desk.audit_columns.mode.column'),
      cell: ({ livemode }) => (livemode === null ? withoutMode : modeWords(livemode)),
    },
    { name: t('desk.audit_columns.details.column'), cell: (entry) => <Details entry={entry} /> },
  ];
}
