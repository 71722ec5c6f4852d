import { useEffect } from 'react';
import type { TillRunner } from '../till-runner.ts';

/** Events of a person who uses the screen. */
const USES = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchmove'] as const;

/** An open dialog, a printer at work, or a problem that the cashier must see. */
const IN_USE = 'dialog[open], .till-main :is([aria-busy="true"], [role="alert"])';

/**
 * Returns from a result to the till some seconds after the screen was last used.
 * @param seconds `null` to stay until `New payment`.
 */
export function useReturn(seconds: number | null, runner: TillRunner): void {
  useEffect(() => {
    if (seconds === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      clearTimeout(timer);
      timer = setTimeout(end, seconds * 1_000);
    };
    const end = () => {
      if (document.querySelector(IN_USE) !== null) begin();
      else runner.dispatch({ type: 'again' });
    };
    begin();
    for (const use of USES) window.addEventListener(use, begin, { capture: true, passive: true });
    return () => {
      clearTimeout(timer);
      for (const use of USES) window.removeEventListener(use, begin, { capture: true });
    };
  }, [seconds, runner]);
}
