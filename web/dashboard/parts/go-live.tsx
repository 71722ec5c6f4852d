import { type ReactNode, useState } from 'react';
import type { ReadGoLiveResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { ConsentDialog } from './consent.tsx';
import { Step, VerifiedStep } from './live-steps.tsx';

/** The chain answers within seconds. */
const WATCH_MS = 3_000;

/** What is missing until sales can be settled on this network; nothing once they can. */
export function GoLive(): ReactNode {
  const { call, may, mode } = useMerchant();
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useRead('GET /accounts/{account}/{mode}/go_live', undefined, {
    everyMs: WATCH_MS,
  });
  const { data: account } = useRead('GET /accounts/{account}');
  if (data === undefined || account === undefined) return null;
  if (data.live) return <NextContract goLive={data} />;
  const { request, prepared } = data;
  // Test mode moves no money, so it needs no verification.
  const isVerified = mode === 'test' || account.kyb_status === 'approved';
  const canGo = isVerified && request?.status !== 'pending';
  const close = () => setIsOpen(false);
  // In test mode `Go live` is one press; whoever wants to sign does it beside.
  const words = mode === 'test' ? 'Use your own wallet' : 'Go live';
  return (
    <section className="card stack">
      <h2>Before sales settle in {mode} mode</h2>
      <ul className="stack stack-tight">
        {mode === 'test' ? null : <VerifiedStep status={account.kyb_status} />}
        <Step
          name="Your wallet is registered on the chain"
          isDone={request?.status === 'succeeded'}
        />
      </ul>
      <Registration request={request} />
      <Prepared prepared={prepared} />
      {canGo && may('admin') ? (
        <div className="row">
          {mode === 'test' ? <GoLiveInTest /> : null}
          <Button
            kind={prepared === null && mode === 'live' ? 'primary' : 'plain'}
            onClick={() => setIsOpen(true)}
          >
            {words}
          </Button>
        </div>
      ) : null}
      {may('admin') ? null : <p className="soft">An admin or an owner can go live.</p>}
      {isOpen ? (
        <ConsentDialog
          title={`Settle sales in ${mode} mode`}
          send={words}
          consentOf={(wallet) =>
            call('GET /accounts/{account}/{mode}/go_live/consent', { query: { wallet } })
          }
          request={(body) => call('POST /accounts/{account}/{mode}/go_live', { body })}
          onDone={close}
          onClose={close}
        >
          <p>
            Your balance is kept on the settlement contract; withdrawals go to this wallet and to no
            other.
          </p>
        </ConsentDialog>
      ) : null}
    </section>
  );
}

/** The account agrees to the network's next contract, with the wallet that it has. */
function NextContract({ goLive }: { readonly goLive: ReadGoLiveResponse }): ReactNode {
  const { call, may, mode } = useMerchant();
  const [isOpen, setIsOpen] = useState(false);
  const { next_contract: next, request, prepared } = goLive;
  if (next === null) return null;
  const close = () => setIsOpen(false);
  return (
    <section className="card stack">
      <h2>The network has a new contract</h2>
      <p>
        Agree to it, and new sales settle there. Keys, terminals and your wallet stay. What was paid
        before stays on the previous contract: refunds are paid from there, and you withdraw it as
        before. For the first days the new contract holds withdrawals, as it did when you went live.
      </p>
      <p className="soft">
        The new contract: <span className="id">{next}</span>
      </p>
      <Registration request={request} />
      <Prepared prepared={prepared} />
      {may('admin') && request?.status !== 'pending' ? (
        <div className="row">
          {mode === 'test' ? <GoLiveInTest>Move in test mode</GoLiveInTest> : null}
          <Button
            kind={mode === 'live' && prepared === null ? 'primary' : 'plain'}
            onClick={() => setIsOpen(true)}
          >
            {mode === 'test' ? 'Use your own wallet' : 'Agree and move'}
          </Button>
        </div>
      ) : null}
      {may('admin') ? null : <p className="soft">An admin or an owner can agree.</p>}
      {isOpen ? (
        <ConsentDialog
          title={`Move ${mode} sales to the new contract`}
          send="Agree and move"
          consentOf={(wallet) =>
            call('GET /accounts/{account}/{mode}/go_live/consent', { query: { wallet } })
          }
          request={(body) => call('POST /accounts/{account}/{mode}/go_live', { body })}
          onDone={close}
          onClose={close}
        >
          <p>
            {mode === 'live'
              ? 'Sign with the wallet that your money goes to now: a move does not change it.'
              : 'Withdrawals from the new contract go to this wallet.'}
          </p>
        </ConsentDialog>
      ) : null}
    </section>
  );
}

/** One press: wallet, its consent and a first till. Real wallets are asked for in live mode. */
export function GoLiveInTest({ children = 'Go live' }: { children?: ReactNode }): ReactNode {
  const { call } = useMerchant();
  return (
    <ActionButton
      kind="primary"
      request={() => call('POST /accounts/{account}/{mode}/go_live/test_wallet', {})}
    >
      {children}
    </ActionButton>
  );
}

type RegistrationProps = Pick<ReadGoLiveResponse, 'request'>;

function Registration({ request }: RegistrationProps): ReactNode {
  return (
    <>
      {request?.status === 'pending' ? (
        <Notice tone="info" role="status">
          <p>The chain is registering your wallet. This takes a few seconds.</p>
        </Notice>
      ) : null}
      {request?.status === 'failed' ? (
        <Notice tone="bad" role="alert">
          <p>Your wallet could not be registered: {request.failure_reason}</p>
        </Notice>
      ) : null}
    </>
  );
}

type PreparedProps = Pick<ReadGoLiveResponse, 'prepared'>;

/** An admin has chosen the wallet; an owner says yes. */
function Prepared({ prepared }: PreparedProps): ReactNode {
  const { call, may } = useMerchant();
  if (prepared === null) return null;
  return (
    <Notice tone="info">
      <p>
        {prepared.prepared_by} has chosen the wallet <span className="id">{prepared.wallet}</span>.
        An owner has to confirm it.
      </p>
      {may('owner') ? (
        <ActionButton
          kind="primary"
          request={() =>
            call('POST /accounts/{account}/{mode}/go_live/confirm', {
              body: { wallet: prepared.wallet },
            })
          }
        >
          Confirm this wallet
        </ActionButton>
      ) : null}
    </Notice>
  );
}
