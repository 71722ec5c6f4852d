import { type ComponentType, createElement, type ReactNode, useEffect, useState } from 'react';
import { withTexts } from './text/t.ts';

export interface Part<P> {
  (props: P): ReactNode;
  /**
   * Loads the code, so that the part can render later without a delay. Rejects if loading fails.
   */
  load(): Promise<void>;
}

interface Slot<P> {
  loaded: ComponentType<P> | null;
  readonly load: () => Promise<void>;
  readonly meanwhile: ReactNode;
}

function Later<P extends object>({
  slot,
  props,
}: {
  readonly slot: Slot<P>;
  readonly props: P;
}): ReactNode {
  const [, setLoads] = useState(0);
  const isHere = slot.loaded !== null;
  useEffect(() => {
    if (isHere) return;
    const fail = (error: unknown) =>
      // Throws during rendering, where the app's error boundary catches it.
      setLoads(() => {
        throw error;
      });
    slot.load().then(() => setLoads((count) => count + 1), fail);
  }, [slot, isHere]);
  return slot.loaded === null ? slot.meanwhile : createElement(slot.loaded, props);
}

/**
 * Creates a component that loads lazily but renders immediately if its code is present. React's
 * `lazy` renders its fallback even then and keeps it for at least 300 ms, which delayed a till's
 * first payment.
 * @param meanwhile Rendered until the code has loaded.
 */
export function partOf<P extends object>(
  fetch: () => Promise<ComponentType<P>>,
  meanwhile: ReactNode = null,
): Part<P> {
  return firstPartOf(() => withTexts(fetch), meanwhile);
}

/** Creates a part that most users see immediately, so its texts load with the page. */
export function firstPartOf<P extends object>(
  fetch: () => Promise<ComponentType<P>>,
  meanwhile: ReactNode = null,
): Part<P> {
  const slot: Slot<P> = {
    loaded: null,
    meanwhile,
    load: async () => {
      slot.loaded = await fetch();
    },
  };
  const draw = (props: P): ReactNode => createElement(Later<P>, { slot, props });
  return Object.assign(draw, { load: slot.load });
}
