import { useEffect, useRef, useState } from 'react';
import type { Device } from '../../data/device.ts';
import { useToast } from '../../ui/toast.tsx';
import { keptSettings, keptUsbReader } from '../kept.ts';
import { takesPasses } from '../machine.ts';
import { goTo } from '../place.ts';
import { type Read, readText, type Unread } from '../reader/credential.ts';
import { readKeyboard } from '../reader/keyboard.ts';
import { readNfc } from '../reader/nfc.ts';
import { readUsb, type UsbState } from '../reader/usb.ts';
import type { TillRunner } from '../till.ts';
import { strayWords, unreadWords } from '../words.ts';
import type { TillContext } from './shift.tsx';

export interface Readers {
  /** What a reader, the camera or the select of the test passes gave. */
  readonly onRead: (read: Read) => void;
  /** What was held against it last since this began and was no pass: another object each time. */
  readonly unread: Unread | null;
  /** Of the reader on this computer, where one was added. */
  readonly usb: UsbState;
}

/** The payment whose screen asks for a pass now. A locked till asks for none. */
function waiting(runner: TillRunner): string | null {
  const { phase } = runner.view().till;
  return isOpen() && takesPasses(phase) ? phase.intent.id : null;
}

/** A shift has begun, and nobody has locked the till. */
function isOpen(): boolean {
  const { shiftSince, locked, pin } = keptSettings();
  return shiftSince !== null && !(locked && pin !== null);
}

/** The reader on this computer, where one was added. */
function useUsbReader(onRead: (read: Read) => void): UsbState {
  const [state, setState] = useState<UsbState>({ is: 'away' });
  useEffect(() => {
    const usb = keptUsbReader();
    if (usb === null) return;
    const end = new AbortController();
    readUsb(usb, { onState: setState, onRead }, end.signal);
    return () => end.abort();
  }, [onRead]);
  return state;
}

/** The till owns its readers, on every screen: what they read while nobody asked goes nowhere. */
export function useReaders(
  context: Pick<TillContext, 'runner' | 'view' | 'settings' | 'device'>,
): Readers {
  const { runner, view, settings, device } = context;
  const { phase } = view.till;
  const toast = useToast();
  const [unread, setUnread] = useState<{ since: number; read: Unread } | null>(null);
  const told = useRef<Device | null>(null);
  useEffect(() => {
    told.current = device;
  }, [device]);
  const [isRefused, setIsRefused] = useState(false);
  const [own] = useState(() => {
    const onStray = (text = '') => {
      const { phase: now } = runner.view().till;
      const [, receipt] = /\/receipts\/([0-9A-Za-z]{22,35})$/.exec(text) ?? [];
      const isIdle = now.at === 'keypad' || now.at === 'result';
      // Somebody holds a receipt to the reader: it is a sale to look at, and no pass.
      if (receipt !== undefined && isIdle && isOpen()) return goTo(`find/${receipt}`);
      const read = readText(text);
      const tag = told.current?.tag_url ?? null;
      toast(read.is === 'tag' ? unreadWords(read, tag) : strayWords(now));
    };
    const onRead = (read: Read) => {
      const { phase: now } = runner.view().till;
      if (waiting(runner) === null || !takesPasses(now)) {
        return onStray(read.is === 'tag' ? read.address : '');
      }
      const { since, tip } = now;
      if (read.is !== 'pass') return setUnread({ since, read: { ...read } });
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
  const usb = useUsbReader(own.onRead);
  const isShift = settings.shiftSince !== null;
  // Where the browser refused, each new payment asks again: somebody has just pressed a button.
  const asking = isRefused && takesPasses(phase) ? phase.intent.id : null;
  // biome's hint is right: another payment is a reason to ask again.
  useEffect(() => {
    if (!isShift && asking === null) return;
    const end = new AbortController();
    void readNfc(own.onRead, end.signal).then((reads) => {
      if (!end.signal.aborted) setIsRefused(!reads);
    });
    return () => end.abort();
  }, [own, isShift, asking]);
  return { onRead: own.onRead, unread: phase.since === unread?.since ? unread.read : null, usb };
}
