import { type ReactNode, useState } from 'react';
import type { ListWithdrawalsResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { useFilters } from '../../desk/filters.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { Notice } from '../../ui/notice.tsx';
import { priceOf } from '../../ui/quoted-price.ts';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Sum } from '../../ui/sum.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { GoLive } from '../payouts/go-live.tsx';
import { SettlementWallet } from '../payouts/settlement-wallet.tsx';
import { WithdrawDialog } from '../payouts/withdraw-dialog.tsx';
import { DayReport } from '../statistics/day-report.tsx';
import { useMerchant, usePages, useRead } from '../use-merchant.ts';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { WithdrawalPage } from './withdrawal.tsx';

/** Loads after the page, because few visits need it. */
const Statements = partOf(async () => (await import('../exports/statements.tsx')).Statements);

const PAGE = 20;
/** Polling interval. A pending withdrawal is paid within seconds. */
const WATCH_MS = 4_000;

type Withdrawal = ListWithdrawalsResponse['data'][number];

const columns = (): readonly Column<Withdrawal>[] => [
  { name: t('dashboard.balance.withdrawal.column'), cell: ({ id }) => <ObjectLink id={id} /> },
  {
    name: 'USDC',
    number: true,
    cell: ({ amount }) => <Amount atoms={BigInt(amount)} unit={false} />,
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  {
    name: t('dashboard.balance.to.column'),
    cell: ({ wallet }) => <span className="id">{wallet}</span>,
  },
  { name: t('dashboard.field.requested'), cell: ({ created }) => <Time at={created} /> },
];

export function Balance(): ReactNode {
  const { may } = useMerchant();
  const [isWithdrawing, setIsWithdrawing] = useState(false);
  const balance = useRead('GET /accounts/{account}/{mode}/balance', undefined, {
    everyMs: WATCH_MS,
  });
  const { data: goLive } = useRead('GET /accounts/{account}/{mode}/go_live');
  const { data: payout } = useRead('GET /accounts/{account}/{mode}/settlement_wallet');
  const available = BigInt(balance.data?.available[0]?.amount ?? 0);
  const canWithdraw = balance.data !== undefined && goLive?.live === true && may('owner');
  const withdraw = canWithdraw ? (
    <Button data-name="Withdraw" kind="primary" onClick={() => setIsWithdrawing(true)}>
      {t('dashboard.button.withdraw')}
    </Button>
  ) : null;
  return (
    <Page title={t('dashboard.page.balance')} actions={withdraw}>
      <LoadTogether>
        <HeldNotice />
        <Loaded query={balance}>
          {({ held_until: until, as_of, presentment }) => (
            <section className="card stack">
              <div className="headline">
                <Sum atoms={available} price={priceOf(presentment)} />
                <span className="soft">
                  {rich('dashboard.balance.as_of', {
                    time: () => <Time at={as_of} shape="clock" />,
                  })}
                </span>
              </div>
              {until === null ? null : <Hold until={until} />}
              {goLive?.live === true && !may('owner') ? (
                <p className="soft">{t('dashboard.balance.owner_only')}</p>
              ) : null}
            </section>
          )}
        </Loaded>
        <GoLive />
        <SettlementWallet />
        <DayReport />
        <Withdrawals />
        <Statements />
        {isWithdrawing && payout?.wallet ? (
          <WithdrawDialog
            available={available}
            wallet={payout.wallet}
            onClose={() => setIsWithdrawing(false)}
          />
        ) : null}
      </LoadTogether>
    </Page>
  );
}

function Hold({ until }: { readonly until: string }): ReactNode {
  return (
    <Notice tone="info">
      <strong>{rich('dashboard.balance.hold.until', { time: () => <Time at={until} /> })}</strong>
      <p>{t('dashboard.balance.hold.why')}</p>
    </Notice>
  );
}

/**
 * Shown while payouts are on hold: after a change of owners, any owner can hold them with the link
 * in the email.
 */
function HeldNotice(): ReactNode {
  const { call, may } = useMerchant();
  const { data } = useRead('GET /accounts/{account}/payout_hold');
  if (data?.held !== true) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>{t('dashboard.balance.on_hold.heading')}</strong>
      <p>
        {rich(
          'dashboard.balance.on_hold.text',
          { time: () => <Time at={data.since ?? ''} /> },
          {
            who: data.held_by === null ? 'unknown' : 'named',
            name: data.held_by ?? '',
            since: data.since === null ? 'unknown' : 'known',
          },
        )}
      </p>
      {may('owner') ? (
        <ActionButton request={() => call('DELETE /accounts/{account}/payout_hold')}>
          {t('dashboard.balance.release_payouts.button')}
        </ActionButton>
      ) : null}
    </Notice>
  );
}

function Withdrawals(): ReactNode {
  const filters = useFilters();
  const pages = usePages(
    'GET /accounts/{account}/{mode}/withdrawals',
    {},
    { limit: PAGE, everyMs: WATCH_MS },
  );
  return (
    <section className="stack">
      <h2>{t('dashboard.balance.paid_out.heading')}</h2>
      <LongList
        label={t('dashboard.balance.withdrawals.label')}
        pages={pages}
        columns={columns()}
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          title: t('dashboard.balance.payouts.empty.heading'),
          text: t('dashboard.balance.payouts.empty'),
        }}
      />
    </section>
  );
}
