import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Status } from '../../ui/status.tsx';
import { useMerchant, useRead } from '../merchant.ts';

export interface StepProps {
  readonly name: string;
  readonly isDone: boolean;
  /** How to do it; shown until it is done. */
  readonly children?: ReactNode;
}

/** One line of a list of what has to be done. */
export function Step({ name, isDone, children }: StepProps): ReactNode {
  return (
    <li className="step">
      <Status tone={isDone ? 'good' : 'plain'}>{isDone ? 'Done' : 'To do'}</Status>
      <div>
        {name}
        {isDone || children === undefined ? null : <>: {children}</>}
      </div>
    </li>
  );
}

/** The operator of the network decides; meanwhile there is nothing to fill in. */
export function VerifiedStep({ status }: { readonly status: string }): ReactNode {
  return (
    <Step name="Your business is verified" isDone={status === 'approved'}>
      {status === 'pending' ? (
        'The network operator is reviewing it'
      ) : (
        <Link href="/dashboard/verification">Fill in the form</Link>
      )}
    </Step>
  );
}

/** Everything between a test account and its first real sale; nothing after that sale. */
export function LiveSteps(): ReactNode {
  const { may } = useMerchant();
  const one = { query: { limit: 1 } };
  const account = useRead('GET /accounts/{account}').data;
  const goLive = useRead('GET /accounts/{account}/{mode}/go_live').data;
  const terminals = useRead('GET /accounts/{account}/{mode}/terminals', one).data;
  const payments = useRead('GET /accounts/{account}/{mode}/payments', one).data;
  if (account === undefined || goLive === undefined) return null;
  if (terminals === undefined || payments === undefined || payments.data.length > 0) return null;
  return (
    <section className="card stack">
      <h2>Before your first real sale</h2>
      <ol className="stack stack-tight">
        <VerifiedStep status={account.kyb_status} />
        <Step name="Your wallet is registered on the chain" isDone={goLive.live}>
          <Link href="/dashboard/balance">Go live</Link>
        </Step>
        <Step name="A till" isDone={terminals.data.length > 0}>
          <Link href="/dashboard/terminals">Add one in live mode and pair a device with it</Link>
        </Step>
        {may('admin') ? <ServerSteps /> : null}
      </ol>
    </section>
  );
}

/** Only who connects a server of their own needs these. */
function ServerSteps(): ReactNode {
  const keys = useRead('GET /accounts/{account}/{mode}/api_keys').data?.data ?? [];
  const endpoints = useRead('GET /accounts/{account}/{mode}/webhook_endpoints').data?.data ?? [];
  return (
    <>
      <Step name="A key for your server, if you have one" isDone={keys.length > 0}>
        <Link href="/dashboard/api-keys">Create an API key</Link>
      </Step>
      <Step name="A webhook that notifies your server of payments" isDone={endpoints.length > 0}>
        <Link href="/dashboard/webhooks">Add an endpoint</Link>
      </Step>
    </>
  );
}
