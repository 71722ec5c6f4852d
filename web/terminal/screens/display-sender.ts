import { type ReactNode, useEffect } from 'react';
import { receiptPath } from '../../data/receipt-path.ts';
import { fromRoot } from '../../data/root-path.ts';
import {
  type DisplayMessage,
  type DisplayState,
  openChannel,
  shownOf,
  takesTip,
} from '../customer-display.ts';
import { usePaid } from './receipt-part.tsx';
import type { TillContext } from './till-context.ts';

/**
 * Sends the till's state to the customer display while it is mounted. It renders nothing; it is a
 * component so that only tills with a display load it.
 */
export function DisplaySender({
  api,
  view,
  runner,
  device,
  offline,
}: Pick<TillContext, 'api' | 'view' | 'runner' | 'device' | 'offline'>): ReactNode {
  const { phase, cart } = view.till;
  const { sales } = offline.view;
  const merchant = device?.merchant_name ?? '';
  const brand = device?.brand_path ?? null;
  const rates = device?.fee_rates ?? null;
  const isOffline = !view.reached;
  const isPaid = phase.at === 'result' && phase.outcome === 'paid';
  const payment = usePaid(api, isPaid ? phase.intent.payment : null);
  const path = isPaid ? receiptPath(payment?.receipt_url ?? null) : null;
  const receipt = path === null ? null : fromRoot(path).href;
  useEffect(() => {
    const channel = openChannel();
    if (channel === null) return;
    const shown = shownOf({ phase, cart }, { rates, sales, receipt });
    const state: DisplayState = { merchant, brand, isOffline, shown };
    const say = (message: DisplayMessage) => channel.postMessage(message);
    channel.onmessage = ({ data }: MessageEvent<DisplayMessage>) => {
      if (data.type === 'hello') say({ type: 'state', state });
      if (data.type === 'tip' && takesTip(state.shown, data)) {
        runner.dispatch({ type: 'tip', tip: data.tip });
      }
    };
    say({ type: 'state', state });
    return () => channel.close();
  }, [phase, cart, sales, merchant, brand, isOffline, receipt, rates, runner]);
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
