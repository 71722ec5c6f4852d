import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { valueIn } from '../../data/api.ts';
import { Button } from '../../ui/button.tsx';
import { Switch } from '../../ui/choice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useHere } from '../here.tsx';
import { keep, useKept } from '../kept.ts';
import {
  askToRing,
  canPush,
  canRing,
  mayRing,
  subscribe,
  subscribedAt,
  unsubscribe,
} from '../push.ts';
import { Refused } from './refused.tsx';

const BLOCKED =
  'This browser blocks notifications from the wallet. Allow them in its settings for this site.';
const FAILED = 'This browser could not be reached by its push service. Try again later.';

/** Whether Web Push is set up here, and this browser subscribed. */
function usePush() {
  const { api, network } = useHere();
  const push = useQuery({
    queryKey: ['push', network],
    queryFn: async () => valueIn(await api.push()),
    enabled: canPush(),
  });
  const { public_key: publicKey = null, subscribed = false } = push.data ?? {};
  const isForgotten = push.data?.subscribed === false && publicKey !== null;
  // Notifications end with the session; the next one takes over the browser's subscription.
  useEffect(() => {
    if (!isForgotten || mayRing() !== 'granted') return;
    const takeOver = async () => {
      const endpoint = await subscribedAt();
      if (endpoint !== null) await api.savePush(endpoint);
    };
    void takeOver().catch(() => {});
  }, [api, isForgotten]);
  return { publicKey, subscribed, isKnown: !push.isLoading, refetch: push.refetch };
}

function useRings() {
  const { api } = useHere();
  const { publicKey, subscribed, isKnown, refetch } = usePush();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const run = async (change: () => Promise<string | null>) => {
    setBusy(true);
    setProblem(await change().catch(() => FAILED));
    if (canPush()) await refetch();
    setBusy(false);
  };
  const turnOn = async () => {
    keep('askedToRing', true);
    if (!(await askToRing())) return BLOCKED;
    if (publicKey === null) return null;
    const answer = await api.savePush(await subscribe(publicKey));
    if (answer.is === 'done') return null;
    return answer.is === 'refused' ? answer.error.message : FAILED;
  };
  const turnOff = async () => {
    await unsubscribe();
    await api.endPush();
    return null;
  };
  const isSetUp = publicKey !== null;
  return {
    busy,
    problem,
    isKnown,
    isSetUp,
    subscribed,
    turnOn: () => run(turnOn),
    turnOff: () => run(turnOff),
  };
}

/** Asked once, as soon as a shop may ask for a confirmation. */
export function RingsQuestion(): ReactNode {
  const asked = useKept('askedToRing');
  const rings = useRings();
  const isOpen = !asked && rings.isKnown && !rings.subscribed && mayRing() === 'default';
  if (!isOpen && rings.problem === null) return null;
  return (
    <Notice tone="info">
      <strong>Notify this device?</strong>
      <p>
        A shop may ask for your approval, and you have a minute to answer.{' '}
        {rings.isSetUp
          ? 'This device can notify you, even while the wallet is closed.'
          : 'This device can notify you, even while you use another window.'}
      </p>
      <Refused problem={rings.problem} />
      <div className="row">
        <Button busy={rings.busy} onClick={rings.turnOn}>
          Notify this device
        </Button>
        {asked ? null : (
          <Button kind="quiet" onClick={() => keep('askedToRing', true)}>
            Not now
          </Button>
        )}
      </div>
    </Notice>
  );
}

function reachOf({ isSetUp, subscribed }: ReturnType<typeof useRings>): string {
  if (subscribed) {
    return (
      'This device is notified when a payment needs your approval and when a fixed-code pass is ' +
      'tapped, even while the wallet is closed.'
    );
  }
  if (isSetUp) return 'This device is not notified while the wallet is closed.';
  return mayRing() === 'granted'
    ? 'This device is notified while the wallet is open, even when you use another window.'
    : 'This device is not notified while you use another window.';
}

export function RingsSection(): ReactNode {
  const rings = useRings();
  const silent = useKept('silent');
  const { busy, subscribed, isSetUp, problem } = rings;
  return (
    <section className="card stack">
      <h2>Notifications</h2>
      {canRing() ? <p className="soft">{reachOf(rings)}</p> : null}
      <Refused problem={problem} />
      {canRing() && !subscribed && (isSetUp || mayRing() !== 'granted') ? (
        <div className="row">
          <Button busy={busy} onClick={rings.turnOn}>
            Notify this device
          </Button>
        </div>
      ) : null}
      {subscribed ? (
        <div className="row">
          <Button busy={busy} onClick={rings.turnOff}>
            Stop notifying this device
          </Button>
        </div>
      ) : null}
      <Switch label="Sound" checked={!silent} onChange={(on) => keep('silent', !on)} />
    </section>
  );
}
