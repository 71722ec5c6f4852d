import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Bell } from '../confirmation-polling.ts';
import { useResult } from '../payment-results.ts';
import type { Ring } from '../ring-machine.ts';
import { useHere } from '../wallet-context.tsx';
import { PaymentMoment, RingSheet } from './lazy-pages.ts';

function useBell(): { readonly bell: Bell | null; readonly ring: Ring | null } {
  const { api, vault, network } = useHere();
  const [bell, setBell] = useState<Bell | null>(null);
  useEffect(() => {
    const made = new Bell(api, `${network} ${vault.address}`);
    setBell(made);
    return () => made.stop();
  }, [api, vault, network]);
  const rings = useSyncExternalStore(
    (listener) => bell?.subscribe(listener) ?? (() => {}),
    () => bell?.rings() ?? null,
  );
  return { bell, ring: rings?.[0] ?? null };
}

/** Shows confirmations and results of payments over every page. */
export function Updates(): ReactNode {
  const { bell, ring } = useBell();
  const result = useResult();
  return (
    <>
      {bell === null || ring === null ? null : <RingSheet bell={bell} ring={ring} />}
      {result === null ? null : (
        <PaymentMoment key={`${result.payment_intent} ${result.result}`} result={result} />
      )}
    </>
  );
}
