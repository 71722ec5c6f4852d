import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { valueIn } from '../../data/api.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { Button } from '../../ui/button.tsx';
import { Switch } from '../../ui/choice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import {
  askToRing,
  canPush,
  canRing,
  mayRing,
  subscribe,
  subscribedAt,
  unsubscribe,
} from '../ring-by-push.ts';
import { useHere } from '../wallet-context.tsx';
import { keep, useKept } from '../wallet-storage.ts';
import { ProblemNotice } from './problem-notice.tsx';

function usePush() {
  const { api, network } = useHere();
  const push = useQuery({
    queryKey: ['push', network],
    queryFn: async () => valueIn(await api.push()),
    enabled: canPush(),
  });
  const { public_key: publicKey = null, subscribed = false } = push.data ?? {};
  const isForgotten = push.data?.subscribed === false && publicKey !== null;
  // Notifications end with the session. The next session takes over the browser's subscription.
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
    setProblem(await change().catch(() => t('wallet.notifications.problem.failed')));
    if (canPush()) await refetch();
    setBusy(false);
  };
  const turnOn = async () => {
    keep('askedToRing', true);
    if (!(await askToRing())) return t('wallet.notifications.problem.blocked');
    if (publicKey === null) return null;
    const answer = await api.savePush(await subscribe(publicKey));
    if (answer.is === 'done') return null;
    return answer.is === 'refused'
      ? refusalText(answer.error)
      : t('wallet.notifications.problem.failed');
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

/** Asks once for permission to notify, as soon as a merchant could ask for a confirmation. */
export function RingsQuestion(): ReactNode {
  const kept = useKept('askedToRing');
  const rings = useRings();
  const isOpen = !kept && rings.isKnown && !rings.subscribed && mayRing() === 'default';
  if (!isOpen && rings.problem === null) return null;
  return (
    <Notice tone="info">
      <strong>{t('wallet.notifications.ask.heading')}</strong>
      <p>
        {t('wallet.notifications.ask.text')}{' '}
        {rings.isSetUp
          ? t('wallet.notifications.ask.when_closed')
          : t('wallet.notifications.ask.when_elsewhere')}
      </p>
      <ProblemNotice problem={rings.problem} />
      <div className="row">
        <Button busy={rings.busy} onClick={rings.turnOn}>
          {t('wallet.notifications.on_button')}
        </Button>
        {kept ? null : (
          <Button kind="quiet" onClick={() => keep('askedToRing', true)}>
            {t('wallet.not_now')}
          </Button>
        )}
      </div>
    </Notice>
  );
}

function reachOf({ isSetUp, subscribed }: ReturnType<typeof useRings>): string {
  if (subscribed) {
    return t('wallet.notifications.reach.closed');
  }
  if (isSetUp) return t('wallet.notifications.reach.not_closed');
  return mayRing() === 'granted'
    ? t('wallet.notifications.reach.open')
    : t('wallet.notifications.reach.not_elsewhere');
}

export function RingsSection(): ReactNode {
  const rings = useRings();
  const silent = useKept('silent');
  const { busy, subscribed, isSetUp, problem } = rings;
  return (
    <section className="card stack">
      <h2>{t('wallet.notifications.heading')}</h2>
      {canRing() ? <p className="soft">{reachOf(rings)}</p> : null}
      <ProblemNotice problem={problem} />
      {canRing() && !subscribed && (isSetUp || mayRing() !== 'granted') ? (
        <div className="row">
          <Button busy={busy} onClick={rings.turnOn}>
            {t('wallet.notifications.on_button')}
          </Button>
        </div>
      ) : null}
      {subscribed ? (
        <div className="row">
          <Button busy={busy} onClick={rings.turnOff}>
            {t('wallet.notifications.off_button')}
          </Button>
        </div>
      ) : null}
      <Switch
        label={t('wallet.notifications.sound')}
        checked={!silent}
        onChange={(on) => keep('silent', !on)}
      />
    </section>
  );
}
