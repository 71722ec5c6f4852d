import {
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { createDeviceApi, type Device, type DeviceApi } from '../../data/device-api.ts';
import { holdReloads } from '../../ui/error-boundary.tsx';
import { AccountTimes } from '../../ui/time.tsx';
import { keepAwake } from '../keep-awake.ts';
import { replacePlace, usePlace } from '../page-path.ts';
import { isBetweenSales } from '../till-machine.ts';
import { pagesOf, SALE_PAGES } from '../till-pages.ts';
import { TillRunner } from '../till-runner.ts';
import { keepSettings, keptSettings, type Pairing, type Settings } from '../till-storage.ts';
import { KeypadScreen } from './keypad.tsx';
import {
  CatalogueScreen,
  DisplaySender,
  FindScreen,
  HistoryScreen,
  LockScreen,
  loadParts,
  PaymentScreen,
  SettingsScreen,
  StartScreen,
  TotalsScreen,
} from './lazy-screens.ts';
import type { TillContext } from './till-context.ts';
import { Bar } from './till-header.tsx';
import { useCatalogue } from './use-catalogue.ts';
import { useOffline } from './use-offline.ts';
import { useReaders } from './use-readers.ts';
import { useScannedItem } from './use-scanned-item.ts';

export interface ShiftProps {
  readonly pairing: Pairing;
  readonly hasNewVersion: boolean;
  /**
   * True for a test till that its merchant opened on this machine; its shift starts automatically.
   */
  readonly startsShift: boolean;
  readonly onPairAgain: () => void;
}

function useRunner(api: DeviceApi): TillRunner | null {
  const [runner, setRunner] = useState<TillRunner | null>(null);
  useEffect(() => {
    const own = new TillRunner(api);
    setRunner(own);
    holdReloads(() => !isBetweenSales(own.view().till.phase));
    return () => own.stop();
  }, [api]);
  return runner;
}

/** Pause after the service refused to say which terminal this is, for example with 429. */
const DEVICE_RETRY_MS = 3_000;

/** Interval at which the terminal is reloaded. */
const DEVICE_AGAIN_MS = 60_000;

/** Loads the terminal's name, currency and mode, and retries until it succeeds. */
function useDevice(runner: TillRunner, reached: boolean): Device | null {
  const [device, setDevice] = useState<Device | null>(null);
  // Loads again when a person signs in or out, because the shift and its rights change.
  const loadsFor = reached ? (keptSettings().person?.id ?? '') : null;
  useEffect(() => {
    if (loadsFor === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isCurrent = true;
    const load = async () => {
      const device = await runner.device();
      if (!isCurrent) return;
      if (device !== null) {
        setDevice(device);
        // Reloads, because the offline limits and terms may change while the till is open.
        timer = setTimeout(load, DEVICE_AGAIN_MS);
        return;
      }
      // Retries, because nothing can be charged without the currency. If the service was
      // unreachable, a change of `reached` ends this round.
      timer = setTimeout(load, DEVICE_RETRY_MS);
    };
    void load();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [runner, loadsFor]);
  return device;
}

/** Returns the till's settings, kept up to date with the service. */
function useSettings(device: Device | null): Pick<TillContext, 'settings' | 'change'> {
  const [settings, setSettings] = useState(keptSettings);
  const change = useCallback((part: Partial<Settings>) => {
    const changed = { ...keptSettings(), ...part };
    keepSettings(changed);
    setSettings(changed);
  }, []);
  useEffect(() => {
    const { person } = keptSettings();
    // Signs out: another window handed over, the PIN has changed, or the cashier was removed.
    const isIn = device === null || device.shift?.cashier === person?.id;
    if (person !== null && !isIn) change({ shiftSince: null, person: null });
  }, [device, change]);
  const currency = device?.currency;
  const taxRate = device?.default_tax_basis_points ?? null;
  useEffect(() => {
    if (currency !== undefined) change({ currency, taxRate });
  }, [currency, taxRate, change]);
  return { settings, change };
}

function useSigner({ api, runner, device }: Pick<TillContext, 'api' | 'runner' | 'device'>): void {
  const signs = device?.signs_receipts;
  useEffect(() => {
    // A till that no longer signs still has the cookie, which is then removed.
    const isLeft = signs === false && document.cookie.includes('tapline_signer');
    if (!signs && !isLeft) return;
    const end = new AbortController();
    const signing = { api, runner, signs, signal: end.signal };
    // Loaded on demand, because few tills sign receipts.
    import('../fiscal-signer.ts').then(({ signReceipts }) => signReceipts(signing)).catch(() => {});
    return () => end.abort();
  }, [api, runner, signs]);
}

/** Leaves the last sale's result when its shift ends or another person takes over. */
function useOwnResults({
  runner,
  view,
  settings,
}: Pick<TillContext, 'runner' | 'view' | 'settings'>): void {
  const { shiftSince, person } = settings;
  const shift = shiftSince === null ? null : (person?.id ?? '');
  const { at } = view.till.phase;
  const last = useRef(shift);
  useEffect(() => {
    if (last.current === shift) return;
    last.current = shift;
    if (at === 'result' || at === 'accepted') runner.dispatch({ type: 'again' });
  }, [runner, shift, at]);
}

export function Shift(props: ShiftProps): ReactNode {
  const [api] = useState(() => createDeviceApi(props.pairing.key));
  const runner = useRunner(api);
  return runner === null ? null : <RunningShift {...props} api={api} runner={runner} />;
}

type RunningProps = ShiftProps & Pick<TillContext, 'api' | 'runner'>;

function RunningShift(props: RunningProps): ReactNode {
  const { api, runner, hasNewVersion, startsShift, onPairAgain } = props;
  const view = useSyncExternalStore(runner.subscribe, runner.view);
  const device = useDevice(runner, view.reached);
  const isKnown = device !== null;
  useEffect(() => {
    if (isKnown) void api.report(import.meta.env.VITE_RELEASE);
  }, [api, isKnown]);
  const { settings, change } = useSettings(device);
  const begins = startsShift && device?.livemode === false && settings.shiftSince === null;
  useEffect(() => {
    if (begins) change({ shiftSince: new Date(Date.now()).toISOString() });
  }, [begins, change]);
  const offline = useOffline(props.pairing, { device, view });
  const place = usePlace();
  const isAtSale = view.till.phase.at === 'keypad';
  const catalogue = useCatalogue(api, view.reached, `${place} ${isAtSale}`);
  const state = { runner, view, device, settings, catalogue };
  const scanned = useScannedItem(state);
  const readers = useReaders({ api, ...state, scanned, offline });
  useSigner({ api, runner, device });
  useOwnResults(state);
  const context = { api, ...state, scanned, readers, change, offline };
  useEffect(() => {
    const end = new AbortController();
    loadParts(end.signal);
    return () => end.abort();
  }, []);
  useEffect(() => {
    if (settings.shiftSince === null) return;
    const end = new AbortController();
    keepAwake(end.signal);
    return () => end.abort();
  }, [settings.shiftSince]);
  const hasDisplay = settings.display && settings.shiftSince !== null;
  const isLocked = settings.locked && settings.pin !== null;
  return (
    <>
      {hasDisplay ? <DisplaySender {...context} /> : null}
      {settings.ending ? <StartScreen {...context} /> : null}
      {isLocked ? (
        <LockScreen {...context} onPairAgain={onPairAgain} />
      ) : (
        <div className="till">
          <Bar {...context} hasNewVersion={hasNewVersion} onPairAgain={onPairAgain} />
          <main className="till-main">
            <AccountTimes timeZone={device?.time_zone}>
              {settings.shiftSince === null ? (
                <StartScreen {...context} />
              ) : (
                <Screen {...context} />
              )}
            </AccountTimes>
          </main>
        </div>
      )}
    </>
  );
}

/**
 * Chooses the screen. Every page shows a payment in progress, so that the cashier cannot navigate
 * away from it.
 */
function Screen(context: TillContext): ReactNode {
  const place = usePlace();
  const { phase } = context.view.till;
  const isOver = phase.at === 'result' || phase.at === 'accepted';
  const isBusy = phase.at !== 'keypad' && !isOver;
  useEffect(() => {
    if (isBusy && !SALE_PAGES.includes(place)) replacePlace('');
  }, [isBusy, place]);
  if (isBusy) return <PaymentScreen {...context} />;
  const [named, id = null] = place.split('/');
  const page = named === '' ? pagesOf(context)[0] : named;
  if (page === 'history') return <HistoryScreen {...context} paymentId={id} />;
  if (page === 'find') return <FindScreen {...context} receipt={id} />;
  if (page === 'settings') return <SettingsScreen {...context} />;
  if (page === 'totals') return <TotalsScreen {...context} part={id} />;
  if (page === 'catalogue' && phase.at === 'keypad') return <CatalogueScreen {...context} />;
  return isOver ? <PaymentScreen {...context} /> : <KeypadScreen {...context} />;
}
