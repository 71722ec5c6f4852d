import { type ReactNode, useState } from 'react';
import type { ReadVerificationResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Form } from '../../desk/form.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/send.ts';
import { ChangedMeanwhile, storedNow } from '../../desk/stored-now.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { Time } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { countriesByName } from '../parts/countries.ts';
import { GoLive } from '../parts/go-live.tsx';
import { RoleNeeded } from '../parts/role-needed.tsx';
import { VerificationDocuments } from '../parts/verification-documents.tsx';

/** What the operator wants to know, in words. */
const FIELDS = {
  legal_name: ['Legal name', 'As written in the company register.'],
  registration_number: ['Registration number', 'From the company register or the trade office.'],
  country: ['Country', 'Where the business is registered.'],
  address: ['Business address', 'Street, city, postal code.'],
  website: ['Website', 'Optional.'],
  business: ['What you sell', 'In one sentence.'],
  representative: ['Who may sign for the business', 'First and last name.'],
} as const;

type FieldName = keyof typeof FIELDS;
type Details = Record<FieldName, string>;
const NAMES = Object.keys(FIELDS) as FieldName[];
const COUNTRIES = countriesByName();

export function Verification(): ReactNode {
  const { may } = useMerchant();
  const query = useRead('GET /accounts/{account}/kyb', undefined, { enabled: may('admin') });
  if (!may('admin')) return <RoleNeeded title="Verification" needs="admin" />;
  return (
    <Page title="Verification">
      <Loaded query={query}>
        {(kyb) => (
          <>
            <State kyb={kyb} />
            {kyb.status === 'none' || kyb.status === 'rejected' ? <Editor kyb={kyb} /> : null}
            {kyb.status === 'pending' ? (
              <VerificationDocuments kyb={kyb} canChange={false} />
            ) : null}
          </>
        )}
      </Loaded>
      <GoLive />
    </Page>
  );
}

function State({ kyb }: { readonly kyb: ReadVerificationResponse }): ReactNode {
  const { status, decision_reason: reason, submitted_at: submitted, decided_at: decided } = kyb;
  if (status === 'approved') {
    return (
      <Notice tone="good">
        <strong>Your business is verified</strong>
        {decided === null ? null : (
          <p>
            Since <Time at={decided} shape="day" />.
          </p>
        )}
      </Notice>
    );
  }
  if (status === 'pending') {
    return (
      <Notice tone="info" role="status">
        <strong>The network operator is reviewing your business</strong>
        <p>
          Submitted{submitted === null ? null : ' on '}
          {submitted === null ? null : <Time at={submitted} />}. You get an email with the decision.
        </p>
      </Notice>
    );
  }
  return (
    <Notice tone={status === 'rejected' ? 'bad' : 'info'}>
      <strong>
        {status === 'rejected'
          ? 'Your business was not approved'
          : 'Three steps to your first real sale'}
      </strong>
      <p>
        {reason ??
          'Save the details, add documents, submit both for review. Test mode works without it.'}
      </p>
    </Notice>
  );
}

function textOf(details: ReadVerificationResponse['details'], name: FieldName): string {
  const value = details?.[name];
  return typeof value === 'string' ? value : '';
}

function readDetails(details: ReadVerificationResponse['details']): Details {
  return Object.fromEntries(NAMES.map((name) => [name, textOf(details, name)])) as Details;
}

interface DetailFieldProps {
  readonly name: FieldName;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint: ReactNode;
  readonly error: string | null;
}

/** One detail: the country from a list, everything else as text. */
function DetailField({ name, onChange, ...rest }: DetailFieldProps): ReactNode {
  const field = {
    ...rest,
    label: FIELDS[name][0],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange(event.target.value),
  };
  if (name !== 'country') return <TextField {...field} />;
  return (
    <Select {...field} autoComplete="country">
      <option value="">Choose a country</option>
      {COUNTRIES.map(({ code, name: country }) => (
        <option key={code} value={code}>
          {country}
        </option>
      ))}
    </Select>
  );
}

function Editor({ kyb }: { readonly kyb: ReadVerificationResponse }): ReactNode {
  const { call } = useMerchant();
  const toast = useToast();
  const [opened, setOpened] = useState(kyb.version);
  const [details, setDetails] = useState(() => readDetails(kyb.details));
  const sending = useSend(NAMES);
  const isStale = opened !== kyb.version;
  const save = async () => {
    const missing = NAMES.find((name) => name !== 'website' && details[name].trim() === '');
    if (missing !== undefined) return sending.refuse(missing, 'This field is required.');
    const { website, ...rest } = details;
    const body = {
      version: kyb.version,
      details: { ...rest, ...(website.trim() === '' ? {} : { website: website.trim() }) },
    };
    const saved = await sending.send(() => call('PUT /accounts/{account}/kyb', { body }));
    if (saved === null) return;
    setOpened(saved.version);
    toast('Saved.');
  };
  return (
    <>
      <section className="card stack">
        <h2>Your business</h2>
        <Form sending={sending} onSend={save} send="Save">
          <ChangedMeanwhile isStale={isStale} />
          {NAMES.map((name) => {
            const stored = textOf(kyb.details, name);
            return (
              <DetailField
                key={name}
                name={name}
                value={details[name]}
                onChange={(value) => setDetails({ ...details, [name]: value })}
                hint={storedNow({ isStale, stored, typed: details[name] }) ?? FIELDS[name][1]}
                error={sending.problemAt(name)}
              />
            );
          })}
        </Form>
      </section>
      <VerificationDocuments kyb={kyb} canChange />
      <ActionButton
        kind="primary"
        request={() => call('POST /accounts/{account}/kyb/submit')}
        onDone={() => toast('Submitted.')}
      >
        Submit for review
      </ActionButton>
    </>
  );
}
