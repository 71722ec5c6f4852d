import { useEffect } from 'react';
import {
  type DisplayMessage,
  type DisplayState,
  openChannel,
  shownOf,
  takesTip,
} from '../display.ts';
import type { TillContext } from './till-context.ts';

/** Sends the till's state to the customer display, if that is switched on. */
export function useDisplay({
  view,
  runner,
  device,
  settings,
}: Pick<TillContext, 'view' | 'runner' | 'device' | 'settings'>): void {
  const { display, shiftSince } = settings;
  const { phase } = view.till;
  const merchant = device?.merchant_name ?? '';
  useEffect(() => {
    const channel = display && shiftSince !== null ? openChannel() : null;
    if (channel === null) return;
    const state: DisplayState = { merchant, shown: shownOf(phase) };
    const say = (message: DisplayMessage) => channel.postMessage(message);
    channel.onmessage = ({ data }: MessageEvent<DisplayMessage>) => {
      if (data.type === 'hello') say({ type: 'state', state });
      if (data.type === 'tip' && takesTip(state.shown, data)) {
        runner.dispatch({ type: 'tip', tip: data.tip });
      }
    };
    say({ type: 'state', state });
    return () => channel.close();
  }, [display, shiftSince, phase, merchant, runner]);
  const isOn = display && shiftSince !== null;
  useEffect(() => {
    if (!isOn) return;
    const goodbye = () => {
      const channel = openChannel();
      channel?.postMessage({ type: 'bye' } satisfies DisplayMessage);
      channel?.close();
    };
    window.addEventListener('pagehide', goodbye);
    return () => {
      window.removeEventListener('pagehide', goodbye);
      goodbye();
    };
  }, [isOn]);
}
