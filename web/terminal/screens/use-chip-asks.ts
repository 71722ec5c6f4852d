import { useState } from 'react';
import type { AskPin } from '../reader/sign-by-chip.ts';

/** A request to the holder of a signing card. */
export type ChipPrompt =
  | { readonly for: 'click'; readonly done: () => void }
  | {
      readonly for: 'pin';
      readonly wasWrong: boolean;
      readonly done: (pin: string | null) => void;
    };

export interface ChipAsks {
  /** The current request; `null` if there is none. */
  readonly asked: ChipPrompt | null;
  readonly askPin: AskPin;
  /** Resolves at a click, or when no click is needed any longer. */
  readonly clicked: (until: AbortSignal) => Promise<void>;
}

/** Lets the signing code ask the card's holder; the page shows the request. */
export function useChipAsks(): ChipAsks {
  const [prompt, setPrompt] = useState<ChipPrompt | null>(null);
  const [asks] = useState(() => ({
    askPin: (wasWrong: boolean, until: AbortSignal) =>
      new Promise<string | null>((resolve) => {
        const done = (pin: string | null) => {
          setPrompt(null);
          resolve(pin);
        };
        until.addEventListener('abort', () => done(null), { once: true });
        setPrompt({ for: 'pin', wasWrong, done });
      }),
    clicked: (until: AbortSignal) =>
      new Promise<void>((resolve) => {
        const done = () => {
          setPrompt(null);
          resolve();
        };
        until.addEventListener('abort', done, { once: true });
        setPrompt({ for: 'click', done });
      }),
  }));
  return { asked: prompt, ...asks };
}
