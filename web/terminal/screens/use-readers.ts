import { useEffect, useRef, useState } from 'react';
import type { Device, DeviceApi } from '../../data/device-api.ts';
import { useToast } from '../../ui/toast.tsx';
import { goTo } from '../page-path.ts';
import type { Chip } from '../reader/chip-commands.ts';
import { readKeyboard } from '../reader/keyboard-reader.ts';
import { needsClick, readChipAfterClick } from '../reader/read-chip-on-iphone.ts';
import { type Read, readText, type Unread } from '../reader/read-credential.ts';
import { readNfc } from '../reader/read-nfc.ts';
import type { UsbState } from '../reader/usb-reader.ts';
import { takesPasses } from '../till-machine.ts';
import type { Asking, Open, Phase } from '../till-phases.ts';
import type { TillRunner } from '../till-runner.ts';
import { keptSettings, keptUsbReader } from '../till-storage.ts';
import { strayWords, unreadWords } from '../till-words.ts';
import type { Readers, TillContext } from './till-context.ts';
import { type ChipAsks, useChipAsks } from './use-chip-asks.ts';

/**
 * Returns the payment that currently waits for a pass; `null` if there is none or the till is
 * locked.
 */
function waiting(runner: TillRunner): string | null {
  const { phase } = runner.view().till;
  if (!isOpen()) return null;
  // An offline sale has no id yet, so its random salt identifies it.
  if (phase.at === 'asking') return phase.request.salt;
  return takesPasses(phase) ? phase.intent.id : null;
}

/** True if a shift has begun and the till is not locked. */
function isOpen(): boolean {
  const { shiftSince, locked, pin } = keptSettings();
  return shiftSince !== null && !(locked && pin !== null);
}

/** Listens to the USB reader on this computer, if one was added. */
function useUsbReader(onRead: (read: Read) => void, api: DeviceApi): UsbState {
  const [state, setState] = useState<UsbState>({ is: 'away' });
  useEffect(() => {
    const usb = keptUsbReader();
    if (usb === null) return;
    const end = new AbortController();
    // Loads the code with the first USB reader, because most tills have none. Offline, it comes
    // from the service worker.
    import('../reader/usb-reader.ts')
      .then(({ readUsb }) => readUsb(usb, { api, onState: setState, onRead }, end.signal))
      .catch(() => {});
    return () => end.abort();
  }, [onRead, api]);
  return state;
}

/** Returns a signal that aborts when this payment no longer waits for a pass. */
function endWith(runner: TillRunner, intent: string) {
  const end = new AbortController();
  const stop = runner.subscribe(() => {
    if (waiting(runner) !== intent) end.abort();
  });
  return { signal: end.signal, stop };
}

interface Chips {
  /**
   * Has the chip sign.
   * @returns the reason why nothing was sent; `null` if the signature was sent, or if the payment
   * no longer waits.
   */
  readonly sign: (chip: Chip, request: Open | Asking) => Promise<Unread | null>;
  readonly isSigning: boolean;
}

type Signing = Pick<TillContext, 'runner' | 'api' | 'offline'>;

/** Loads with the first chip or answer, like what signs and checks them. */
const loadSignatures = () => import('../reader/take-signature.ts');

/** Handles signing chips one at a time. Ignores a second read of the same card. */
function useChips({ runner, api, offline }: Signing, { askPin }: ChipAsks): Chips {
  const [isSigning, setIsSigning] = useState(false);
  const [sign] = useState(() => {
    let isBusy = false;
    return async (chip: Chip, request: Open | Asking): Promise<Unread | null> => {
      const expected = waiting(runner);
      if (isBusy || expected === null) return null;
      isBusy = true;
      setIsSigning(true);
      const end = endWith(runner, expected);
      const isWaiting = () => waiting(runner) === expected;
      const sending = { runner, api, offline, askPin, isWaiting, until: end.signal };
      const refused = await loadSignatures()
        .then(({ takeChip }) => takeChip(chip, request, sending))
        // The code failed to load because there is no network.
        .catch((): Unread => ({ is: 'not_signed', message: null }));
      end.stop();
      isBusy = false;
      setIsSigning(false);
      // The payment has ended, and its signature is valid for no other payment.
      return waiting(runner) === expected ? refused : null;
    };
  });
  return { sign, isSigning };
}

interface ReadingOffline extends Pick<TillContext, 'runner' | 'offline'>, Pick<Chips, 'sign'> {}

/**
 * Handles an item that was read for an offline sale.
 * @returns the reason why it does not pay, or `null`.
 */
async function readOffline(
  read: Read,
  request: Asking,
  reading: ReadingOffline,
): Promise<Unread | null> {
  if (read.is === 'chip') return reading.sign(read.chip, request);
  if (read.is === 'answer') {
    const { acceptAnswer } = await loadSignatures();
    return acceptAnswer(read.text, request, reading);
  }
  // A pass cannot pay, because only the service can check it.
  return read.is === 'pass' ? { is: 'no_pass' } : { ...read };
}

/**
 * Runs the browser's own NFC reader during a shift.
 * @returns a function that restarts it from a click.
 */
function useNfc(onRead: Readers['onRead'], phase: Phase, isShift: boolean): () => void {
  const [isRefused, setIsRefused] = useState(false);
  const [clicks, setClicks] = useState(0);
  // After a refusal, each new payment requests permission again, because the cashier has just
  // clicked.
  const asking = isRefused && takesPasses(phase) ? phase.intent.id : null;
  // Restarts for another payment or another click.
  const expected = isShift || asking !== null ? `${asking} ${clicks}` : null;
  useEffect(() => {
    if (expected === null) return;
    const end = new AbortController();
    void readNfc(onRead, end.signal).then((reads) => {
      if (!end.signal.aborted) setIsRefused(!reads);
    });
    return () => end.abort();
  }, [onRead, expected]);
  return () => setClicks((before) => before + 1);
}

interface Holding extends Pick<Readers, 'onRead'> {
  readonly runner: TillRunner;
  readonly asks: ChipAsks;
}

/**
 * Reads one card through the browser's dialog, on phones whose pages have no NFC. Each card needs a
 * click.
 */
function holdAfterClick({ runner, asks, onRead }: Holding): void {
  const intent = waiting(runner);
  if (intent === null) return;
  const end = endWith(runner, intent);
  readChipAfterClick(asks.clicked, end.signal)
    .then((chip) => onRead(chip === null ? { is: 'unreadable' } : { is: 'chip', chip }))
    .catch(() => {
      if (waiting(runner) === intent) onRead({ is: 'left_early' });
    })
    .finally(end.stop);
}

/** Runs the till's readers on every screen. Reads are dropped unless a payment waits for them. */
export function useReaders(context: Omit<TillContext, 'readers' | 'change'>): Readers {
  const { api, runner, view, settings, device, offline, scanned } = context;
  const { phase } = view.till;
  const toast = useToast();
  const [unread, setUnread] = useState<{ since: number; read: Unread } | null>(null);
  const told = useRef<Device | null>(null);
  useEffect(() => {
    told.current = device;
  }, [device]);
  const asks = useChipAsks();
  const { sign, isSigning } = useChips({ runner, api, offline }, asks);
  const [own] = useState(() => {
    const onStray = (text = '', read = readText(text)) => {
      const { phase: now } = runner.view().till;
      const [, receipt] = /\/receipts\/([0-9A-Za-z]{22,35})$/.exec(text) ?? [];
      const isIdle = now.at === 'keypad' || now.at === 'result';
      // Opens the sale of a receipt that was held to the reader.
      if (receipt !== undefined && isIdle && isOpen()) return goTo(`find/${receipt}`);
      if (isOpen() && scanned.take(text)) return;
      const tag = told.current?.tag_url ?? null;
      const isGarbled = read.is === 'no_pass' && read.why === 'other_layout';
      toast(read.is === 'tag' || isGarbled ? unreadWords(read, tag) : strayWords(now));
    };
    const onRead = (read: Read) => {
      const { phase: now } = runner.view().till;
      if (waiting(runner) === null) return onStray(read.is === 'tag' ? read.address : '');
      const { since } = now;
      const show = (end: Unread | null) => {
        if (end !== null) setUnread({ since, read: end });
      };
      if (now.at === 'asking') {
        return void readOffline(read, now, { runner, offline, sign }).then(show);
      }
      if (!takesPasses(now) || read.is === 'answer') return onStray();
      if (read.is === 'chip') return void sign(read.chip, now).then(show);
      if (read.is !== 'pass') return show({ ...read });
      const { tip } = now;
      const tap = { key: crypto.randomUUID(), credential: read.credential, tip };
      return runner.dispatch({ type: 'tap', tap });
    };
    return { waiting: () => waiting(runner), onRead, onStray };
  });
  useEffect(() => {
    const end = new AbortController();
    readKeyboard(own, end.signal);
    return () => end.abort();
  }, [own]);
  const scanAgain = useNfc(own.onRead, phase, settings.shiftSince !== null);
  const afterClick = () => holdAfterClick({ runner, asks, onRead: own.onRead });
  const usb = useUsbReader(own.onRead, api);
  return {
    onRead: own.onRead,
    unread: phase.since === unread?.since ? unread.read : null,
    signing: isSigning,
    asked: asks.asked,
    holdCard: needsClick() ? afterClick : scanAgain,
    usb,
  };
}
