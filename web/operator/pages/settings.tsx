import type { ReactNode } from 'react';
import type { ListOperatorsResponse } from '../../data/types/operator.ts';
import { useDesk } from '../../desk/desk-context.ts';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { OwnAccess } from '../../desk/own-access.tsx';
import { List } from '../../desk/short-list.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { type Column, Facts } from '../../ui/table.tsx';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { OfflineRules } from '../parts/offline-rule.tsx';
import { PolicyForms } from '../parts/policy-form.tsx';
import { saidOf } from '../parts/proposal-words.ts';
import { ReasonButton } from '../parts/reason-button.tsx';
import { settingsOf } from '../parts/setting-words.ts';
import { SmartTapKeys } from '../parts/smart-tap-keys.tsx';
import { useOperator, useRead } from '../use-operator.ts';

type Colleague = ListOperatorsResponse['data'][number];

const COLUMNS: readonly Column<Colleague>[] = [
  { name: 'Person', cell: ({ name }) => given(name) },
  { name: 'Address', cell: ({ email }) => email },
  {
    name: 'Access',
    cell: ({ role }) => (role === 'support' ? 'Read-only' : 'Can edit'),
  },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: 'Since', cell: ({ created }) => <Time at={created} /> },
  {
    name: 'Change',
    cell: (colleague) => (
      <div className="row">
        <ChangeRole colleague={colleague} />
        <Disable colleague={colleague} />
      </div>
    ),
  },
];

export function Settings(): ReactNode {
  const staff = useRead('GET /operators');
  const configuration = useRead('GET /configuration');
  return (
    <Page title="Settings">
      <LoadTogether>
        <OwnAccess />
        <h2>Staff</h2>
        <List label="Staff" query={staff} columns={COLUMNS} keyOf={({ id }) => id} empty={null} />
        <PolicyForms />
        <OfflineRules />
        <SmartTapKeys />
        <h2>Configuration</h2>
        <p className="soft">
          As read by the process that answered. Secrets are masked. Change them where the service is
          started.
        </p>
        <Loaded query={configuration}>{(settings) => <Configuration settings={settings} />}</Loaded>
      </LoadTogether>
    </Page>
  );
}

/** Lists the settings with their values, followed by the names of those that are not set. */
function Configuration({ settings }: { readonly settings: unknown }): ReactNode {
  const all = settingsOf(settings);
  const unset = all.filter(([, value]) => value === null);
  return (
    <section className="card stack">
      <Facts facts={all} />
      {unset.length === 0 ? null : (
        <details>
          <summary>{unset.length} settings are not set</summary>
          <p className="soft">{unset.map(([name]) => name).join(', ')}</p>
        </details>
      )}
    </section>
  );
}

/** Operators cannot disable themselves; a colleague must do that. */
function Disable({ colleague }: { readonly colleague: Colleague }): ReactNode {
  const { session } = useDesk();
  const { call, mayChange } = useOperator();
  const { id, email, status } = colleague;
  if (!mayChange) return null;
  if (id === session.user.id || status === 'disabled') return null;
  return (
    <ReasonButton
      button="danger-quiet"
      words={
        <>
          Disable<span className="unseen"> {email}</span>
        </>
      }
      title={`Disable ${email}?`}
      send="Disable"
      kind="danger"
      hint="For the audit log."
      request={(reason) => call('POST /operators/{id}/disable', { path: { id }, body: { reason } })}
      said="Disabled."
    >
      <p>They are signed out everywhere immediately.</p>
    </ReasonButton>
  );
}

/** Support staff can see everything and change nothing. */
function ChangeRole({ colleague }: { readonly colleague: Colleague }): ReactNode {
  const { session } = useDesk();
  const { call, mayChange } = useOperator();
  const { id, email, status, role } = colleague;
  if (!mayChange || id === session.user.id || status === 'disabled') return null;
  const next = role === 'support' ? 'operator' : 'support';
  return (
    <ReasonButton
      title={`Change the role of ${email}?`}
      send={next === 'support' ? 'Make read-only' : 'Allow editing'}
      hint="For the audit log."
      request={(reason) =>
        call('POST /operators/{id}/role', { path: { id }, body: { reason, role: next } })
      }
      said={saidOf('Changed.')}
    >
      <p>
        {next === 'support'
          ? 'They can still see everything, and can no longer change anything.'
          : 'They can do everything that you can do.'}
      </p>
    </ReasonButton>
  );
}
