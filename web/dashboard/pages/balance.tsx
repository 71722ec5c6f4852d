import { type ReactNode, useState } from 'react';
import type { ListWithdrawalsResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Arrived } from '../../desk/arrived.tsx';
import { useFilters } from '../../desk/filters.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Sum } from '../../ui/sum.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, usePages, useRead } from '../merchant.ts';
import { DayReport } from '../parts/day-report.tsx';
import { GoLive } from '../parts/go-live.tsx';
import { ObjectLink } from '../parts/object-link.tsx';
import { SettlementWallet } from '../parts/settlement-wallet.tsx';
import { WithdrawDialog } from '../parts/withdraw-dialog.tsx';

const PAGE = 20;
/** A withdrawal that is under way is paid within seconds. */
const WATCH_MS = 4_000;

type Withdrawal = ListWithdrawalsResponse['data'][number];

const COLUMNS: readonly Column<Withdrawal>[] = [
  { name: 'Withdrawal', cell: ({ id }) => <ObjectLink id={id} /> },
  {
    name: 'USDC',
    number: true,
    cell: ({ amount }) => <Amount atoms={BigInt(amount)} unit={false} />,
  },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: 'To', cell: ({ wallet }) => <span className="id">{wallet}</span> },
  { name: 'Requested', cell: ({ created }) => <Time at={created} /> },
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
    <Button kind="primary" onClick={() => setIsWithdrawing(true)}>
      Withdraw
    </Button>
  ) : null;
  return (
    <Page title="Balance" actions={withdraw}>
      <Arrived>
        <HeldNotice />
        <Loaded query={balance}>
          {({ held_until: until, as_of }) => (
            <section className="card stack">
              <div className="headline">
                <Sum atoms={available} />
                <span className="soft">
                  yours on the settlement contract, as of <Time at={as_of} shape="clock" />
                </span>
              </div>
              {until === null ? null : <Hold until={until} />}
              {goLive?.live === true && !may('owner') ? (
                <p className="soft">Only an owner can withdraw money.</p>
              ) : null}
            </section>
          )}
        </Loaded>
        <GoLive />
        <SettlementWallet />
        <DayReport />
        <Withdrawals />
        {isWithdrawing && payout?.wallet ? (
          <WithdrawDialog
            available={available}
            wallet={payout.wallet}
            onClose={() => setIsWithdrawing(false)}
          />
        ) : null}
      </Arrived>
    </Page>
  );
}

function Hold({ until }: { readonly until: string }): ReactNode {
  return (
    <Notice tone="info">
      <strong>
        The contract holds withdrawals until <Time at={until} />
      </strong>
      <p>
        Sales are credited to your balance at once. The hold leaves time for refunds, and for
        noticing a wallet that someone else has set. After that you can withdraw everything.
      </p>
    </Notice>
  );
}

/** After a change of owners, any owner may hold the payouts with the link in the mail. */
function HeldNotice(): ReactNode {
  const { call, may } = useMerchant();
  const { data } = useRead('GET /accounts/{account}/payout_hold');
  if (data?.held !== true) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>Payouts are on hold</strong>
      <p>
        {data.held_by ?? 'An owner'} put them on hold after a change of owners
        {data.since === null ? null : (
          <>
            , on <Time at={data.since} />
          </>
        )}
        . Nothing can be withdrawn, and the wallet cannot be changed, until an owner releases them.
      </p>
      {may('owner') ? (
        <ActionButton request={() => call('DELETE /accounts/{account}/payout_hold')}>
          Release payouts
        </ActionButton>
      ) : null}
    </Notice>
  );
}

function Withdrawals(): ReactNode {
  const filters = useFilters();
  const pages = usePages(
    'GET /accounts/{account}/{mode}/withdrawals',
    (cursor) => ({ query: { limit: PAGE, cursor } }),
    { everyMs: WATCH_MS },
  );
  return (
    <section className="stack">
      <h2>Paid out</h2>
      <LongList
        label="Withdrawals"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <EmptyState title="No payouts yet">
            Your money stays on the contract until you move it to your own wallet.
          </EmptyState>
        }
      />
    </section>
  );
}
