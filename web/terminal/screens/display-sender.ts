import { type ReactNode, useEffect } from 'react';
import {
  type DisplayMessage,
  type DisplayState,
  openChannel,
  shownOf,
  takesTip,
} from '../customer-display.ts';
import type { TillContext } from './till-context.ts';

/**
 * Sends the till's state to the customer display while it is mounted. It renders nothing; it is a
 * component so that only tills with a display load it.
 */
export function DisplaySender({
  view,
  runner,
  device,
  offline,
}: Pick<TillContext, 'view' | 'runner' | 'device' | 'offline'>): ReactNode {
  const { phase } = view.till;
  const { sales } = offline.view;
  const merchant = device?.merchant_name ?? '';
  const rates = device?.fee_rates ?? null;
  useEffect(() => {
    const channel = openChannel();
    if (channel === null) return;
    const state: DisplayState = { merchant, shown: shownOf(phase, rates, sales) };
    const say = (message: DisplayMessage) => channel.postMessage(message);
    channel.onmessage = ({ data }: MessageEvent<DisplayMessage>) => {
      if (data.type === 'hello') say({ type: 'state', state });
      if (data.type === 'tip' && takesTip(state.shown, data)) {
        runner.dispatch({ type: 'tip', tip: data.tip });
      }
    };
    say({ type: 'state', state });
    return () => channel.close();
  }, [phase, sales, merchant, rates, runner]);
  useEffect(() => {
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
  }, []);
  return null;
}
