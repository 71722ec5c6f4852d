import { type ReactNode, useState } from 'react';
import { Link, useParams } from 'wouter';
import { fromRoot } from '../../data/root-path.ts';
import type { ReadSubmissionResponse } from '../../data/types/operator.ts';
import { countryName } from '../../desk/countries.ts';
import { useDesk } from '../../desk/desk-context.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { sizeWords } from '../../ui/size-words.ts';
import { ObjectStatus } from '../../ui/status.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { saidOf } from '../parts/proposal-words.ts';
import { ReasonDialog } from '../parts/reason-dialog.tsx';
import { useOperator, useRead } from '../use-operator.ts';

type Kyb = ReadSubmissionResponse;

export function SubmissionPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /accounts/{account}/kyb', { path: { account: id } });
  const { data: kyb } = query;
  return (
    <Page title="Verification" actions={kyb === undefined ? null : <Decide kyb={kyb} />}>
      <Loaded query={query}>
        {(loaded) => (
          <>
            <WaitsForColleague kyb={loaded} />
            <div className="columns">
              <Business kyb={loaded} />
              <Papers kyb={loaded} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function WaitsForColleague({ kyb }: { readonly kyb: Kyb }): ReactNode {
  const { session } = useDesk();
  const { asked_by: by } = kyb;
  if (by === null) return null;
  const isOwn = by === session.user.email;
  return (
    <Notice tone="warn">
      {isOwn
        ? 'You have approved this business. A colleague has to approve it too.'
        : `${by} has approved this business. It is verified as soon as you approve it, too.`}
    </Notice>
  );
}

function Decide({ kyb }: { readonly kyb: Kyb }): ReactNode {
  const { session } = useDesk();
  const { call, mayChange } = useOperator();
  const [open, setOpen] = useState<'approved' | 'rejected' | null>(null);
  const path = { account: kyb.account };
  const decide = (decision: 'approved' | 'rejected') => (reason: string) =>
    call('POST /accounts/{account}/kyb/decision', {
      path,
      body: { decision, ...(reason === '' ? {} : { reason }) },
    });
  const close = () => setOpen(null);
  if (!mayChange) return null;
  return (
    <>
      {kyb.status === 'pending' && kyb.asked_by !== session.user.email ? (
        <Button kind="primary" onClick={() => setOpen('approved')}>
          Approve
        </Button>
      ) : null}
      {kyb.status === 'pending' || kyb.status === 'approved' ? (
        <Button kind="danger" onClick={() => setOpen('rejected')}>
          Reject
        </Button>
      ) : null}
      {open === 'approved' ? (
        <ReasonDialog
          title="Approve this business?"
          send="Approve"
          needsReason={false}
          hint="Shown to the merchant. Optional."
          request={decide('approved')}
          said={saidOf('Approved.')}
          onClose={close}
        >
          <p>The merchant may then go live. You can reject the business later.</p>
        </ReasonDialog>
      ) : null}
      {open === 'rejected' ? (
        <ReasonDialog
          title="Reject this business?"
          send="Reject"
          kind="danger"
          hint="Shown to the merchant: say what to correct."
          request={decide('rejected')}
          said="Rejected."
          onClose={close}
        >
          <p>The merchant can correct the details and submit them again.</p>
        </ReasonDialog>
      ) : null}
    </>
  );
}

function words(name: string): string {
  const text = name.replaceAll('_', ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function detailWords(name: string, value: unknown): string {
  if (typeof value !== 'string') return given(JSON.stringify(value));
  return name === 'country' ? countryName(value) : given(value);
}

function Business({ kyb }: { readonly kyb: Kyb }): ReactNode {
  const { account, status, details, submitted_at, decided_at, decision_reason: reason } = kyb;
  return (
    <section className="card stack">
      <h2>Business</h2>
      <FactList>
        <Fact name="Account">
          <Link href={`/operator/accounts/${account}`} className="id">
            {account}
          </Link>
        </Fact>
        <Fact name="Status">
          <ObjectStatus status={status} />
        </Fact>
        <Fact name="Submitted">{submitted_at === null ? null : <Time at={submitted_at} />}</Fact>
        <Fact name="Decided">{decided_at === null ? null : <Time at={decided_at} />}</Fact>
        <Fact name="Reason">{reason}</Fact>
        {Object.entries(details ?? {}).map(([name, value]) => (
          <Fact key={name} name={words(name)}>
            {detailWords(name, value)}
          </Fact>
        ))}
      </FactList>
    </section>
  );
}

function Papers({ kyb }: { readonly kyb: Kyb }): ReactNode {
  const file = (id: string) =>
    // GET /accounts/{account}/kyb/documents/{id}
    fromRoot(`api/operator/v1/accounts/${kyb.account}/kyb/documents/${id}`).href;
  return (
    <section className="card stack">
      <h2>Documents</h2>
      {kyb.documents.length === 0 ? <p className="soft">No document was added.</p> : null}
      {kyb.documents.map(({ id, kind, file_name: name, content_type: type, size, sha256 }) => (
        <figure key={id} className="stack stack-tight">
          {type.startsWith('image/') ? (
            <img className="paper" src={file(id)} alt={`${words(kind)}: ${name}`} />
          ) : null}
          <figcaption className="stack stack-tight">
            <span className="row">
              <a href={file(id)} download>
                <bdi>{name}</bdi>
              </a>
              <span className="soft small">
                {words(kind)}, {sizeWords(size)}
              </span>
            </span>
            <span className="soft small id">{sha256}</span>
          </figcaption>
        </figure>
      ))}
    </section>
  );
}
