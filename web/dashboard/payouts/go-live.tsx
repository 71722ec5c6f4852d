import { type ReactNode, useState } from 'react';
import type { ReadGoLiveResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { useAccount, useMerchant, useRead } from '../use-merchant.ts';
import { GoLiveInTest } from './go-live-in-test.tsx';
import { VerifiedStep } from './live-steps.tsx';
import { ConsentDialog } from './sign-wallet-consent.tsx';
import { Step } from './step.tsx';

/** Polling interval. The chain confirms within seconds. */
const WATCH_MS = 3_000;

/**
 * Shows the steps that are missing before sales can settle on this network. Empty once they can.
 */
export function GoLive(): ReactNode {
  const { call, may, mode } = useMerchant();
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useRead('GET /accounts/{account}/{mode}/go_live', undefined, {
    everyMs: WATCH_MS,
  });
  const { data: account } = useAccount();
  if (data === undefined || account === undefined) return null;
  if (data.live) return <NextContract goLive={data} />;
  const { request, prepared } = data;
  // Test mode moves no real money, so it needs no verification.
  const isVerified = mode === 'test' || account.kyb_status === 'approved';
  const canGo = isVerified && request?.status !== 'pending';
  const close = () => setIsOpen(false);
  // In test mode `Go live` is one click; signing with one's own wallet is an alternative.
  const words =
    mode === 'test' ? t('dashboard.button.use_own_wallet') : t('dashboard.button.go_live');
  return (
    <section className="card stack">
      <h2>{t('dashboard.go_live.heading', { mode })}</h2>
      <ul className="stack stack-tight">
        {mode === 'test' ? null : <VerifiedStep status={account.kyb_status} />}
        <Step name={t('dashboard.go_live.registered')} isDone={request?.status === 'succeeded'} />
      </ul>
      <Registration request={request} />
      <Prepared prepared={prepared} />
      {canGo && may('admin') ? (
        <div className="row">
          {mode === 'test' ? <GoLiveInTest /> : null}
          <Button
            data-name={mode === 'live' ? 'Go live' : undefined}
            kind={prepared === null && mode === 'live' ? 'primary' : 'plain'}
            onClick={() => setIsOpen(true)}
          >
            {words}
          </Button>
        </div>
      ) : null}
      {may('admin') ? null : <p className="soft">{t('dashboard.go_live.admin_only')}</p>}
      {isOpen ? (
        <ConsentDialog
          title={t('dashboard.go_live.dialog.heading', { mode })}
          send={words}
          {...(mode === 'live' ? { 'data-name': 'Go live' } : {})}
          consentOf={(wallet) =>
            call('GET /accounts/{account}/{mode}/go_live/consent', { query: { wallet } })
          }
          request={(body) => call('POST /accounts/{account}/{mode}/go_live', { body })}
          onDone={close}
          onClose={close}
        >
          <p>{t('dashboard.go_live.consent')}</p>
        </ConsentDialog>
      ) : null}
    </section>
  );
}

function NextContract({ goLive }: { readonly goLive: ReadGoLiveResponse }): ReactNode {
  const { call, may, mode } = useMerchant();
  const [isOpen, setIsOpen] = useState(false);
  const { next_contract: next, request, prepared } = goLive;
  if (next === null) return null;
  const close = () => setIsOpen(false);
  return (
    <section className="card stack">
      <h2>{t('dashboard.go_live.next.heading')}</h2>
      <p>{t('dashboard.go_live.next.text')}</p>
      <p className="soft">
        {rich('dashboard.go_live.next.contract', {
          contract: () => <span className="id">{next}</span>,
        })}
      </p>
      <Registration request={request} />
      <Prepared prepared={prepared} />
      {may('admin') && request?.status !== 'pending' ? (
        <div className="row">
          {mode === 'test' ? (
            <GoLiveInTest>{t('dashboard.go_live.next.test_button')}</GoLiveInTest>
          ) : null}
          <Button
            kind={mode === 'live' && prepared === null ? 'primary' : 'plain'}
            onClick={() => setIsOpen(true)}
          >
            {mode === 'test'
              ? t('dashboard.button.use_own_wallet')
              : t('dashboard.button.agree_and_move')}
          </Button>
        </div>
      ) : null}
      {may('admin') ? null : <p className="soft">{t('dashboard.go_live.next.admin_only')}</p>}
      {isOpen ? (
        <ConsentDialog
          title={t('dashboard.go_live.next.dialog.heading', { mode })}
          send={t('dashboard.button.agree_and_move')}
          consentOf={(wallet) =>
            call('GET /accounts/{account}/{mode}/go_live/consent', { query: { wallet } })
          }
          request={(body) => call('POST /accounts/{account}/{mode}/go_live', { body })}
          onDone={close}
          onClose={close}
        >
          <p>
            {mode === 'live'
              ? t('dashboard.go_live.next.same_wallet')
              : t('dashboard.go_live.next.consent')}
          </p>
        </ConsentDialog>
      ) : null}
    </section>
  );
}

type RegistrationProps = Pick<ReadGoLiveResponse, 'request'>;

function Registration({ request }: RegistrationProps): ReactNode {
  return (
    <>
      {request?.status === 'pending' ? (
        <Notice tone="info" role="status">
          <p>{t('dashboard.go_live.registering')}</p>
        </Notice>
      ) : null}
      {request?.status === 'failed' ? (
        <Notice tone="bad" role="alert">
          <p>{t('dashboard.go_live.failed', { reason: request.failure_reason ?? '' })}</p>
        </Notice>
      ) : null}
    </>
  );
}

type PreparedProps = Pick<ReadGoLiveResponse, 'prepared'>;

/** Shown after an admin has chosen the wallet, while an owner must confirm it. */
function Prepared({ prepared }: PreparedProps): ReactNode {
  const { call, may } = useMerchant();
  if (prepared === null) return null;
  return (
    <Notice tone="info">
      <p>
        {rich(
          'dashboard.go_live.prepared',
          { wallet: () => <span className="id">{prepared.wallet}</span> },
          { name: prepared.prepared_by },
        )}
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
          {t('dashboard.go_live.confirm.button')}
        </ActionButton>
      ) : null}
    </Notice>
  );
}
