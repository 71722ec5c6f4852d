import type { ReactNode } from 'react';
import { Link, useParams } from 'wouter';
import type { DashboardWithdrawal } from '../../data/types/dashboard.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Sum } from '../../ui/sum.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useRead } from '../merchant.ts';
import { OtherMode } from '../parts/other-mode.tsx';

const WATCH_MS = 3_000;

export function WithdrawalPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/withdrawals/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  return (
    <Page title="Payout">
      <Loaded query={query} missing={<OtherMode />}>
        {(withdrawal) => (
          <>
            <div className="headline">
              <Sum atoms={BigInt(withdrawal.amount)} />
              <ObjectStatus status={withdrawal.status} />
              <CopyId id={withdrawal.id} />
            </div>
            <Waiting withdrawal={withdrawal} />
            {withdrawal.failure_message === null ? null : (
              <Notice tone="bad">
                <strong>Nothing was moved</strong>
                <p>{withdrawal.failure_message}</p>
              </Notice>
            )}
            <section className="card">
              <FactList>
                <Fact name="To">
                  <span className="id">{withdrawal.wallet}</span>
                </Fact>
                <Fact name="Transaction">
                  {withdrawal.tx_hash && <span className="id">{withdrawal.tx_hash}</span>}
                </Fact>
                <Fact name="Requested">
                  <Time at={withdrawal.created} />
                </Fact>
                <Fact name="Last change">
                  <Time at={withdrawal.updated} />
                </Fact>
              </FactList>
            </section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Waiting({ withdrawal }: { readonly withdrawal: DashboardWithdrawal }): ReactNode {
  const { waiting, created } = withdrawal;
  if (waiting === null) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>Waiting</strong>
      <p>
        {waiting.message} We retry it every minute for 24 hours from <Time at={created} />. After
        that it fails, and the money stays in your balance. Your wallet can withdraw it directly, at
        any time: <Link href="/balance">Your money without us</Link>.
      </p>
    </Notice>
  );
}
