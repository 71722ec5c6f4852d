import type { ReactNode } from 'react';
import { Link, useParams } from 'wouter';
import type { DashboardWithdrawal } from '../../data/types/dashboard.ts';
import { Headline } from '../../desk/headline.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { Sum } from '../../ui/sum.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { useRead } from '../use-merchant.ts';

const WATCH_MS = 3_000;

export function WithdrawalPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/withdrawals/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  return (
    <Page title={t('dashboard.withdrawal.payout.page')}>
      <Loaded query={query} missing={<OtherMode />}>
        {(withdrawal) => (
          <>
            <Headline of={withdrawal}>
              <Sum atoms={BigInt(withdrawal.amount)} />
            </Headline>
            <Waiting withdrawal={withdrawal} />
            {withdrawal.failure_message === null ? null : (
              <Notice tone="bad">
                <strong>{t('dashboard.withdrawal.nothing_was_moved')}</strong>
                <p>{given(withdrawal.failure_message)}</p>
              </Notice>
            )}
            <section className="card">
              <FactList>
                <Fact name={t('dashboard.withdrawal.to.name')}>
                  <span className="id">{withdrawal.wallet}</span>
                </Fact>
                <Fact name={t('dashboard.field.transaction')}>
                  {withdrawal.tx_hash && <span className="id">{withdrawal.tx_hash}</span>}
                </Fact>
                <Fact name={t('dashboard.field.requested')}>
                  <Time at={withdrawal.created} />
                </Fact>
                <Fact name={t('dashboard.field.last_change')}>
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
  const { waiting } = withdrawal;
  if (waiting === null) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>{t('dashboard.withdrawal.waiting')}</strong>
      <p>
        {rich(
          'dashboard.withdrawal.waiting.text',
          { link: (text) => <Link href="/balance">{text}</Link> },
          { message: waiting.message },
        )}
      </p>
    </Notice>
  );
}
