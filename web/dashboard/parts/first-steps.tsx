import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Notice } from '../../ui/notice.tsx';
import { partOf } from '../../ui/part.ts';
import { useMerchant, useRead } from '../merchant.ts';
import { Step } from './live-steps.tsx';
import { ObjectLink } from './object-link.tsx';
import { Pairing } from './pairing.tsx';

/** From here to a till that sells: one press, in a sandbox only. */
const OpenTestTill = partOf(async () => (await import('./open-test-till.tsx')).OpenTestTill);
const GoLiveInTest = partOf(async () => (await import('./go-live.tsx')).GoLiveInTest);

/** What is done on a phone or in another window shows here soon after. */
const WATCH_MS = 5_000;

/**
 * From nothing to a test payment without a line of code. It says so when that payment is there, and
 * goes with the second one.
 */
export function FirstSteps(): ReactNode {
  const { may } = useMerchant();
  const one = { query: { limit: 1 } };
  const two = { query: { limit: 2 } };
  const watched = { everyMs: WATCH_MS };
  const terminals = useRead('GET /accounts/{account}/{mode}/terminals', one, watched).data?.data;
  const payments = useRead('GET /accounts/{account}/{mode}/payments', two, watched).data?.data;
  const goLive = useRead('GET /accounts/{account}/{mode}/go_live', undefined, watched).data;
  if (terminals === undefined || payments === undefined || goLive === undefined) return null;
  if (payments.length > 1) return null;
  const [till] = terminals;
  const [payment] = payments;
  const isPaid = payment !== undefined;
  return (
    <section className="card stack">
      <h2>Your first payment, without code</h2>
      {till?.last_seen_at == null && !isPaid && may('admin') ? <OpenTestTill /> : null}
      <ol className="stack stack-tight">
        <Step name="Sales can settle in test mode" isDone={goLive.live}>
          {may('admin') ? <GoLiveInTest /> : <Link href="/dashboard/balance">See why</Link>}
        </Step>
        <Step name="A till" isDone={till !== undefined}>
          <Link href="/dashboard/terminals">Add one</Link>
        </Step>
        <Step name="A device for it" isDone={isPaid || (till?.last_seen_at ?? null) !== null}>
          {till === undefined ? (
            'After you have added the till'
          ) : (
            <Pairing terminal={till.id} brief />
          )}
        </Step>
        <Step name="A sale" isDone={isPaid}>
          <Sale till={till?.id} />
        </Step>
        <Step name="The payment" isDone={isPaid}>
          <Link href="/dashboard/payments">It appears in your payments within a second</Link>
        </Step>
      </ol>
      {payment === undefined ? null : (
        <Notice tone="good" role="status">
          <strong>Your first test payment is there</strong>
          <p>
            Open it: <ObjectLink id={payment.id} />. Switch off test mode to see what real sales
            still need.
          </p>
        </Notice>
      )}
    </section>
  );
}

/** The customer is played at the till or here. */
function Sale({ till }: { readonly till: string | undefined }): ReactNode {
  const start = 'Type 2.50 on the till, click Charge, and tap with the test pass “ok”';
  if (till === undefined) return <>{start}</>;
  return (
    <>
      {start}. You can also{' '}
      <Link href={`/dashboard/terminals/${till}`}>tap as the customer from here</Link>
    </>
  );
}
