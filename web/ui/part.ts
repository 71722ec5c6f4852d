import { type ComponentType, createElement, type ReactNode, useEffect, useState } from 'react';
import { loadMoreTexts } from './text/t.ts';

/** A component whose code comes after the first load. */
export interface Part<P> {
  (props: P): ReactNode;
  /** Brings the code, so that it is there when it has to be shown. Rejects where it cannot. */
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
      // Thrown while drawing: there the app's last resort catches it.
      setLoads(() => {
        throw error;
      });
    slot.load().then(() => setLoads((count) => count + 1), fail);
  }, [slot, isHere]);
  return slot.loaded === null ? slot.meanwhile : createElement(slot.loaded, props);
}

/**
 * A part whose code is there is drawn at once. React's own `lazy` draws its fallback first even
 * then, and a fallback that was drawn stands for at least 300 ms: the first payment of a till was
 * shown that much too late.
 * @param meanwhile what stands in its place until the code is there.
 */
export function partOf<P extends object>(
  fetch: () => Promise<ComponentType<P>>,
  meanwhile: ReactNode = null,
): Part<P> {
  const withTexts = async () => (await Promise.all([fetch(), loadMoreTexts()]))[0];
  return firstPartOf(withTexts, meanwhile);
}

/** A part that most people see at once: its texts come with the page. */
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
