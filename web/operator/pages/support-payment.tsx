import { type ReactNode, useState } from 'react';
import { Link, useParams } from 'wouter';
import { ApiFailure } from '../../data/api.ts';
import type { ReadAnyPaymentResponse } from '../../data/types/operator.ts';
import { Form } from '../../desk/form.tsx';
import { Headline } from '../../desk/headline.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Timeline } from '../../desk/timeline.tsx';
import { courseOf } from '../../desk/timeline-steps.ts';
import { TotalHeadline } from '../../desk/total-headline.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { CodeWords } from '../../ui/code-words.tsx';
import { paidTotal } from '../../ui/paid-total.ts';
import { intentSum } from '../../ui/sale-total.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { type Column, Fact, FactList, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ChainRequests } from '../parts/chain-requests.tsx';
import { Findings } from '../parts/payment-findings.tsx';
import { ReasonField } from '../parts/reason-field.tsx';
import { useOperator, useRead } from '../use-operator.ts';

type View = ReadAnyPaymentResponse;
type Request = View['requests'][number];

/** Polling interval. Short, because the caller on the phone waits for a change. */
const WATCH_MS = 5_000;

function asksWhy(error: Error | null): boolean {
  if (!(error instanceof ApiFailure) || error.answer.is !== 'refused') return false;
  return error.answer.error.code === 'unexpected_state';
}

/** Shows a merchant's payment, after the operator has given a reason for opening it. */
export function SupportPayment(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /payment_intents/{id}', { path: { id } }, { everyMs: WATCH_MS });
  const { error, isFetching, refetch } = query;
  if (asksWhy(error)) {
    return (
      <Page title="Payment">
        <Why id={id} onSaid={() => void refetch()} />
      </Page>
    );
  }
  return (
    <Page
      title="Payment"
      actions={
        <Button busy={isFetching} onClick={() => void refetch()}>
          Refresh
        </Button>
      }
    >
      <Loaded query={query} missing="Search for it on the Support page.">
        {(view) => <PaymentView view={view} />}
      </Loaded>
    </Page>
  );
}

function Why({ id, onSaid }: { readonly id: string; readonly onSaid: () => void }): ReactNode {
  const { call } = useOperator();
  const [reason, setReason] = useState('');
  const sending = useSend(['reason']);
  const run = async () => {
    const typed = reason.trim();
    if (typed === '') return sending.refuse('reason', 'Enter a reason.');
    const done = await sending.send(() =>
      call('POST /payment_intents/{id}/looks', { path: { id }, body: { reason: typed } }),
    );
    if (done !== null) onSaid();
  };
  return (
    <section className="card stack">
      <h2>Why are you viewing this payment?</h2>
      <p>
        It belongs to a shop and its customer. Your name and this reason are recorded in the shop’s
        audit log. You can then view it for half an hour.
      </p>
      <Form sending={sending} onSend={run} send="View">
        <ReasonField
          value={reason}
          onText={setReason}
          hint="Who asked and why, such as: the customer called, ticket 4711."
          sending={sending}
        />
      </Form>
    </section>
  );
}

function PaymentView({ view }: { readonly view: View }): ReactNode {
  const { payment_intent: intent, payment, timeline } = view;
  const steps = courseOf({ intent, payment: payment ?? undefined, timeline });
  const total = payment === null ? intentSum(intent) : paidTotal(payment).total;
  return (
    <>
      <Headline of={{ id: intent.id, status: payment?.status ?? intent.status }}>
        <TotalHeadline {...total} />
      </Headline>
      <div className="columns">
        <div className="stack">
          <Findings findings={view.findings} />
          <section className="card stack">
            <h2>What the shop sees</h2>
            <Timeline
              moments={steps.map(({ key, at, tone, title, detail, codes }) => {
                return { key, at, tone, title, detail, codes };
              })}
            />
          </section>
        </div>
        <Facts view={view} />
      </div>
      <h2>Settlement jobs</h2>
      <ChainRequests rows={view.chain_requests} />
      <h2>Requests to the service</h2>
      {view.requests.length === 0 ? (
        <p className="soft">No request in the last 30 days changed it.</p>
      ) : (
        <Table
          label="Requests to the service"
          columns={REQUESTS}
          rows={view.requests}
          keyOf={({ id }) => id}
        />
      )}
    </>
  );
}

function Facts({ view }: { readonly view: View }): ReactNode {
  const { account, mode, terminal, payment_intent: intent, payment } = view;
  return (
    <section className="card stack">
      <h2>Sale</h2>
      <FactList>
        <Fact name="Account">
          <span className="row">
            <Link href={`/operator/accounts/${account.id}`}>
              <bdi>{account.name}</bdi>
            </Link>
            {account.status === 'active' ? null : <ObjectStatus status={account.status} />}
          </span>
        </Fact>
        <Fact name="Mode">{mode === 'live' ? 'Live' : 'Test'}</Fact>
        <Fact name="Terminal">
          <bdi>{terminal.name}</bdi>
        </Fact>
        <Fact name="Terminal seen">
          {terminal.last_seen === null ? 'Never' : <Time at={terminal.last_seen} />}
        </Fact>
        <Fact name="Order">
          <span className="id">{intent.order_id}</span>
        </Fact>
        <Fact name="Payment">{payment && <span className="id">{payment.id}</span>}</Fact>
        <Fact name="Receipt">
          {payment?.receipt_number && <span className="id">{payment.receipt_number}</span>}
        </Fact>
        <Fact name="Wallet">
          {payment && (
            <Link href={`/operator/payers?text=${payment.payer}`}>
              <span className="id">{payment.payer}</span>
            </Link>
          )}
        </Fact>
        <Fact name="Transaction">{payment && <span className="id">{payment.tx_hash}</span>}</Fact>
        <Fact name="Open until">
          <Time at={intent.expires_at} />
        </Fact>
        <Fact name="You can view it until">
          <Time at={view.look_until} shape="clock" />
        </Fact>
      </FactList>
    </section>
  );
}

const REQUESTS: readonly Column<Request>[] = [
  {
    name: 'Request',
    cell: ({ method, path, id }) => (
      <div className="said">
        <span className="id">
          {method} {path}
        </span>
        <p className="soft small">
          <span className="id">{id}</span>
        </p>
      </div>
    ),
  },
  { name: 'Status', number: true, cell: ({ status }) => String(status) },
  { name: 'Error', cell: ({ code }) => <CodeWords code={code ?? ''} /> },
  { name: 'By', cell: ({ caller }) => <span className="id">{caller}</span> },
  { name: 'Duration', number: true, cell: ({ duration_ms: ms }) => `${Math.round(ms)} ms` },
  { name: 'Received', cell: ({ created }) => <Time at={created} shape="exact" /> },
];
