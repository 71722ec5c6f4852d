import { type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { ReadVerificationResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { ChangedMeanwhile, storedNow } from '../../desk/concurrent-change.tsx';
import { countriesByName } from '../../desk/countries.ts';
import { Form } from '../../desk/form.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { GoLive } from '../payouts/go-live.tsx';
import { VerificationDocuments } from '../payouts/verification-documents.tsx';
import { RoleNeeded } from '../sessions/role-needed.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

/** Details that the operator requires. */
const NAMES = [
  'legal_name',
  'registration_number',
  'country',
  'address',
  'website',
  'business',
  'representative',
] as const;

type FieldName = (typeof NAMES)[number];
type Details = Record<FieldName, string>;

export function Verification(): ReactNode {
  const { may } = useMerchant();
  const query = useRead('GET /accounts/{account}/kyb', undefined, { enabled: may('admin') });
  if (!may('admin')) return <RoleNeeded title={t('dashboard.page.verification')} needs="admin" />;
  return (
    <Page title={t('dashboard.page.verification')}>
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
        <strong>{t('dashboard.verification.verified')}</strong>
        {decided === null ? null : (
          <p>
            {rich('dashboard.verification.since', {
              time: () => <Time at={decided} shape="day" />,
            })}
          </p>
        )}
      </Notice>
    );
  }
  if (status === 'pending') {
    return (
      <Notice tone="info" role="status">
        <strong>{t('dashboard.verification.submitted.heading')}</strong>
        <p>
          {submitted === null
            ? t('dashboard.verification.submitted.text')
            : rich('dashboard.verification.submitted.text_on', {
                time: () => <Time at={submitted} />,
              })}
        </p>
      </Notice>
    );
  }
  return (
    <Notice tone={status === 'rejected' ? 'bad' : 'info'}>
      <strong>
        {status === 'rejected'
          ? t('dashboard.verification.rejected.heading')
          : t('dashboard.verification.open.heading')}
      </strong>
      <p>{reason === null ? t('dashboard.verification.open.text') : named(reason)}</p>
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

function DetailField({ name, onChange, ...rest }: DetailFieldProps): ReactNode {
  const [countries] = useState(() => (name === 'country' ? countriesByName() : []));
  const field = {
    ...rest,
    label: t(`dashboard.business.${name}`),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange(event.target.value),
  };
  if (name !== 'country') return <TextField {...field} />;
  return (
    <Select {...field} autoComplete="country">
      <option value="">{t('dashboard.verification.choose_a_country.option')}</option>
      {countries.map(({ code, name: country }) => (
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
    if (missing !== undefined)
      return sending.refuse(missing, t('dashboard.verification.field_missing'));
    const { website, ...rest } = details;
    const body = {
      version: kyb.version,
      details: { ...rest, ...(website.trim() === '' ? {} : { website: website.trim() }) },
    };
    const saved = await sending.send(() => call('PUT /accounts/{account}/kyb', { body }));
    if (saved === null) return;
    setOpened(saved.version);
    toast(t('dashboard.settings.saved'));
  };
  return (
    <>
      <section className="card stack">
        <h2>{t('dashboard.verification.your_business.heading')}</h2>
        <Form sending={sending} onSend={save} send={t('desk.button.save')}>
          <ChangedMeanwhile isStale={isStale} />
          {NAMES.map((name) => {
            const stored = textOf(kyb.details, name);
            return (
              <DetailField
                key={name}
                name={name}
                value={details[name]}
                onChange={(value) => setDetails({ ...details, [name]: value })}
                hint={
                  storedNow({ isStale, stored, typed: details[name] }) ??
                  t(`dashboard.business_hint.${name}`)
                }
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
        onDone={() => toast(t('dashboard.verification.submitted'))}
      >
        {t('dashboard.verification.submit_for_review.button')}
      </ActionButton>
    </>
  );
}
