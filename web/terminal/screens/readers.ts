import { useEffect, useState } from 'react';
import type { Credential } from '../../data/device.ts';
import { useToast } from '../../ui/toast.tsx';
import { keptSettings } from '../kept.ts';
import { takesPasses } from '../machine.ts';
import { goTo } from '../place.ts';
import { readKeyboard } from '../reader/keyboard.ts';
import { readNfc } from '../reader/nfc.ts';
import type { TillRunner } from '../till.ts';
import { strayWords } from '../words.ts';
import type { TillContext } from './shift.tsx';

export interface Readers {
  /** What a reader, the camera or the select of the test passes gave; null: it was no pass. */
  readonly onPass: (credential: Credential | null) => void;
  /** How often something was held against it since this began that was no pass. */
  readonly unreadable: number;
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

/** The till owns its readers, on every screen: what they read while nobody asked goes nowhere. */
export function useReaders(context: Pick<TillContext, 'runner' | 'view' | 'settings'>): Readers {
  const { runner, view, settings } = context;
  const { phase } = view.till;
  const toast = useToast();
  const [unread, setUnread] = useState({ since: -1, count: 0 });
  const [isRefused, setIsRefused] = useState(false);
  const [own] = useState(() => {
    const onStray = (text = '') => {
      const { phase: now } = runner.view().till;
      const [, receipt] = /\/receipts\/([0-9A-Za-z]{22,35})$/.exec(text) ?? [];
      const isIdle = now.at === 'keypad' || now.at === 'result';
      // Somebody holds a receipt to the reader: it is a sale to look at, and no pass.
      if (receipt !== undefined && isIdle && isOpen()) goTo(`find/${receipt}`);
      else toast(strayWords(now));
    };
    const onPass = (credential: Credential | null) => {
      const { phase: now } = runner.view().till;
      if (waiting(runner) === null || !takesPasses(now)) return onStray();
      const { since, tip } = now;
      if (credential !== null) {
        const tap = { key: crypto.randomUUID(), credential, tip };
        return runner.dispatch({ type: 'tap', tap });
      }
      setUnread((before) => ({ since, count: before.since === since ? before.count + 1 : 1 }));
    };
    return { waiting: () => waiting(runner), onPass, onStray };
  });
  useEffect(() => {
    const end = new AbortController();
    readKeyboard(own, end.signal);
    return () => end.abort();
  }, [own]);
  const isShift = settings.shiftSince !== null;
  // Where the browser refused, each new payment asks again: somebody has just pressed a button.
  const asking = isRefused && takesPasses(phase) ? phase.intent.id : null;
  // biome's hint is right: another payment is a reason to ask again.
  useEffect(() => {
    if (!isShift && asking === null) return;
    const end = new AbortController();
    void readNfc(own.onPass, end.signal).then((reads) => {
      if (!end.signal.aborted) setIsRefused(!reads);
    });
    return () => end.abort();
  }, [own, isShift, asking]);
  return { onPass: own.onPass, unreadable: phase.since === unread.since ? unread.count : 0 };
}
