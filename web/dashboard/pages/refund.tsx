import { type ReactNode, useState } from 'react';
import { useParams } from 'wouter';
import type { DashboardRefund } from '../../data/types/dashboard.ts';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Sum } from '../../ui/sum.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { ObjectLink } from '../parts/object-link.tsx';
import { OtherMode } from '../parts/other-mode.tsx';

/** A refund that is under way is settled within seconds. */
const WATCH_MS = 3_000;

const SOURCES = {
  api: 'Your server',
  terminal: 'The terminal',
  dashboard: 'The dashboard',
} as const;

export function RefundPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/refunds/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  return (
    <Page title="Refund">
      <Loaded query={query} missing={<OtherMode />}>
        {(refund) => <RefundView refund={refund} />}
      </Loaded>
    </Page>
  );
}

function RefundView({ refund }: { readonly refund: DashboardRefund }): ReactNode {
  const metadata = Object.entries(refund.metadata);
  return (
    <>
      <div className="headline">
        <Sum atoms={BigInt(refund.amount)} />
        <ObjectStatus status={refund.status} />
        <CopyId id={refund.id} />
      </div>
      {refund.waiting === null ? null : <Waiting refund={refund} />}
      {refund.status === 'failed' ? (
        <Notice tone="bad">
          <strong>Nothing was refunded</strong>
          <p>{refund.failure_message}</p>
        </Notice>
      ) : null}
      <section className="card">
        <FactList>
          <Fact name="Payment">
            <ObjectLink id={refund.payment} />
          </Fact>
          <Fact name="Requested by">{SOURCES[refund.source]}</Fact>
          <Fact name="Reason">{refund.reason}</Fact>
          <Fact name="Transaction">
            {refund.tx_hash && <span className="id">{refund.tx_hash}</span>}
          </Fact>
          <Fact name="Failure">{refund.failure_code}</Fact>
          <Fact name="Requested">
            <Time at={refund.created} />
          </Fact>
          <Fact name="Last change">
            <Time at={refund.updated} />
          </Fact>
          {metadata.map(([name, value]) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
        </FactList>
      </section>
    </>
  );
}

/** Refused for now, by USDC or for this hour; it is tried again by itself. */
function Waiting({ refund }: { readonly refund: DashboardRefund }): ReactNode {
  const { call, may } = useMerchant();
  const [isEnding, setIsEnding] = useState(false);
  const { waiting } = refund;
  if (waiting === null) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>Waiting</strong>
      <p>
        The transfer cannot be made yet: {waiting.message} We retry it every minute for 24 hours
        from <Time at={waiting.since} />.
      </p>
      {may('admin') ? (
        <div>
          <Button onClick={() => setIsEnding(true)}>Give up</Button>
        </div>
      ) : null}
      {isEnding ? (
        <ConfirmDialog
          title="Give up this refund?"
          send="Give up"
          request={() =>
            call('POST /accounts/{account}/{mode}/refunds/{id}/end', { path: { id: refund.id } })
          }
          onDone={() => setIsEnding(false)}
          onClose={() => setIsEnding(false)}
        >
          <p>The customer receives nothing, and the amount can be refunded again.</p>
        </ConfirmDialog>
      ) : null}
    </Notice>
  );
}
