import { type ReactNode, useState } from 'react';
import { Link, useParams } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import type { ReadAnyAccountResponse } from '../../data/types/operator.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus, Status } from '../../ui/status.tsx';
import { type Column, Fact, FactList, Table } from '../../ui/table.tsx';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { readWhole } from '../../ui/whole-number.ts';
import { saidOf } from '../parts/proposal-words.ts';
import { ReasonButton } from '../parts/reason-button.tsx';
import { ReasonDialog } from '../parts/reason-dialog.tsx';
import { useOperator, useRead } from '../use-operator.ts';

type Account = ReadAnyAccountResponse;
type Mode = Account['modes'][number];
type Member = Account['members'][number];

const MODES: readonly Column<Mode>[] = [
  { name: 'Mode', cell: ({ mode }) => mode },
  { name: 'Network', cell: ({ network }) => network },
  {
    name: 'Live',
    cell: ({ live }) => <Status tone={live ? 'good' : 'plain'}>{live ? 'Yes' : 'No'}</Status>,
  },
  { name: 'Number', number: true, cell: ({ merchant_number: number }) => String(number ?? '') },
  { name: 'Wallet', cell: ({ settlement_wallet: to }) => <span className="id">{to}</span> },
];

const MEMBERS: readonly Column<Member>[] = [
  { name: 'Person', cell: ({ name }) => given(name) },
  { name: 'Address', cell: ({ email }) => email },
  { name: 'Role', cell: ({ role }) => role },
];

export function AccountPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /accounts/{account}', { path: { account: id } });
  const { data } = query;
  return (
    <Page
      title={data?.name ?? 'Account'}
      actions={data === undefined ? null : <Switch account={data} />}
    >
      <Loaded query={query} missing="Search for it on the Accounts page.">
        {(account) => (
          <>
            <Facts account={account} />
            <h2>Modes</h2>
            <Table label="Modes" columns={MODES} rows={account.modes} keyOf={({ mode }) => mode} />
            <h2>Team</h2>
            <Table
              label="Team"
              columns={MEMBERS}
              rows={account.members}
              keyOf={({ user, email }) => user ?? email ?? ''}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Facts({ account }: { readonly account: Account }): ReactNode {
  const { id, status, disabled_reason: reason, kyb_status: kyb, created } = account;
  return (
    <section className="card stack">
      <FactList>
        <Fact name="Id">
          <span className="id">{id}</span>
        </Fact>
        {account.requested_name === null ? null : (
          <Fact name="Requested name">
            <span className="row">
              <bdi>{account.requested_name}</bdi>
              <NameSwitch account={account} name={account.requested_name} />
            </span>
          </Fact>
        )}
        <Fact name="Status">
          <ObjectStatus status={status} />
        </Fact>
        <Fact name="Reason">{reason}</Fact>
        <Fact name="Verification">
          <span className="row">
            <ObjectStatus status={kyb} />
            <Link href={`/operator/verification/${id}`}>View</Link>
          </span>
        </Fact>
        <Fact name="Opened">
          <Time at={created} />
        </Fact>
        <Fact name="Daily refund limit (UTC)">
          <Amount atoms={BigInt(account.refund_daily_limit)} />
        </Fact>
        <Fact name="Share of the hourly ceiling">
          <span className="row">
            {account.ceiling_share === null ? 'Default' : `${account.ceiling_share} %`}
            <ShareSwitch account={account} />
          </span>
        </Fact>
        <Fact name="Refund window">{`${account.refund_window_days} days`}</Fact>
        <Fact name="Changes">
          <Link href={`/operator/audit-log?account=${id}`}>Its audit log</Link>
        </Fact>
      </FactList>
    </section>
  );
}

function ShareSwitch({ account }: { readonly account: Account }): ReactNode {
  const { call, mayChange } = useOperator();
  const [typed, setTyped] = useState(String(account.ceiling_share ?? ''));
  const path = { account: account.id };
  // The service refuses 0, which stands for what is no whole number.
  const share = typed.trim() === '' ? null : (readWhole(typed) ?? 0);
  if (!mayChange) return null;
  return (
    <ReasonButton
      title={`How much may ${named(account.name)} sell in an hour?`}
      send="Change share"
      hint="Kept in the audit log."
      request={(reason) =>
        call('POST /accounts/{account}/ceiling_share', { path, body: { share, reason } })
      }
      said="Changed."
    >
      <p>Above its share, its taps are refused until the next hour.</p>
      <TextField
        label="Percent of the hourly ceiling"
        inputMode="numeric"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        hint="1 to 100. Empty: as for all accounts."
      />
    </ReasonButton>
  );
}

/** Approves or rejects a new name, because payers trust the verified one. */
function NameSwitch({
  account,
  name,
}: {
  readonly account: Account;
  readonly name: string;
}): ReactNode {
  const { call, mayChange } = useOperator();
  const [open, setOpen] = useState<'approved' | 'rejected' | null>(null);
  if (!mayChange) return null;
  const path = { account: account.id };
  const decide = (decision: 'approved' | 'rejected') => (reason: string) =>
    call('POST /accounts/{account}/name_request/decision', { path, body: { decision, reason } });
  return (
    <>
      <Button onClick={() => setOpen('approved')}>Approve name</Button>
      <Button onClick={() => setOpen('rejected')}>Reject name</Button>
      {open === null ? null : (
        <ReasonDialog
          title={
            open === 'approved'
              ? `Rename to ${named(name)}?`
              : `Keep the name ${named(account.name)}?`
          }
          send={open === 'approved' ? 'Approve name' : 'Reject name'}
          kind={open === 'approved' ? 'primary' : 'danger'}
          hint={
            open === 'approved'
              ? 'What you checked. It is kept in the audit log.'
              : 'Sent to the owners, and kept in the audit log.'
          }
          request={decide(open)}
          said={saidOf(open === 'approved' ? 'Renamed.' : 'Rejected.')}
          onClose={() => setOpen(null)}
        >
          <p>
            Payers see <bdi>{account.name}</bdi> now. A name close to someone else’s can be used to
            impersonate them.
          </p>
        </ReasonDialog>
      )}
    </>
  );
}

function Switch({ account }: { readonly account: Account }): ReactNode {
  const { call, mayChange } = useOperator();
  const path = { account: account.id };
  const hint = 'Shown to the merchant, and kept in the audit log.';
  if (!mayChange) return null;
  return account.status === 'active' ? (
    <ReasonButton
      button="danger"
      title={`Stop ${named(account.name)}?`}
      send="Disable"
      kind="danger"
      hint={hint}
      request={(reason) => call('POST /accounts/{account}/disable', { path, body: { reason } })}
      said={saidOf('Disabled.')}
    >
      <p>Its keys and terminals are refused within a second. Its money remains its own.</p>
    </ReasonButton>
  ) : (
    <ReasonButton
      button="primary"
      title={`Enable ${named(account.name)}?`}
      send="Enable"
      hint={hint}
      request={(reason) => call('POST /accounts/{account}/enable', { path, body: { reason } })}
      said={saidOf('Enabled.')}
    >
      <p>Its keys and terminals work again.</p>
    </ReasonButton>
  );
}
