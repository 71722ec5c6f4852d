import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createDeviceApi } from '../../data/device-api.ts';
import type { OfflineTill, OfflineView } from '../offline/offline-till.ts';
import { hasSoldOffline, type Pairing } from '../till-storage.ts';
import type { OfflineSelling, TillContext } from './till-context.ts';

const OFF: OfflineView = { isOn: false, sales: [], refusal: null, hasStorage: true, outlook: null };
const nothing = () => () => {};
const off = () => OFF;

/** Loads the code on demand, because few tills sell offline. */
async function start(pairing: Pairing, end: AbortSignal): Promise<OfflineTill> {
  const [{ OfflineTill }, { createForwardApi }] = await Promise.all([
    import('../offline/offline-till.ts'),
    import('../../data/forward-offline-payments.ts'),
  ]);
  const till = new OfflineTill({
    terminal: pairing.terminal,
    forward: createForwardApi(pairing.key),
    payments: createDeviceApi(pairing.key),
  });
  await till.load();
  if (!end.aborted) void till.run(end);
  return till;
}

/** Runs offline sales if the merchant allows them, or if this browser still holds some. */
export function useOffline(
  pairing: Pairing,
  { device, view }: Pick<TillContext, 'device' | 'view'>,
): OfflineSelling {
  const [till, setTill] = useState<OfflineTill | null>(null);
  const starting = useRef<Promise<OfflineTill | null>>(Promise.resolve(null));
  const isWanted = device?.offline != null || hasSoldOffline();
  useEffect(() => {
    if (!isWanted) return;
    const end = new AbortController();
    starting.current = start(pairing, end.signal).catch(() => null);
    void starting.current.then((own) => {
      if (!end.signal.aborted) setTill(own);
    });
    return () => {
      end.abort();
      starting.current = Promise.resolve(null);
      setTill(null);
    };
  }, [isWanted, pairing]);
  useEffect(() => till?.contact(view), [till, view]);
  useEffect(() => {
    if (device !== null) void till?.learn(device);
  }, [till, device]);
  const shown = useSyncExternalStore(till?.subscribe ?? nothing, till?.view ?? off);
  return { view: shown, till: () => starting.current };
}
