import type { Shot } from './shots.ts';
import { type Counter, newTill } from './till.ts';

/**
 * Returns a function for screenshots of a till whose shift has begun, at a terminal with this
 * label.
 */
export function tillShotsAt(label: string) {
  return (name: string, lead: (counter: Counter) => Promise<void>): Shot => ({
    name,
    show: async (scene) => {
      const counter = await newTill(scene, undefined, { label });
      await lead(counter);
      return counter.till;
    },
  });
}
