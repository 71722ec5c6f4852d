import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { askForCamera } from '../reader/camera.ts';
import { hasNfc, readNfc } from '../reader/nfc.ts';
import { CashierField } from './cashier-field.tsx';
import type { TillContext } from './till-context.ts';

/** Asks for all browser permissions at once, so that no prompt appears while a customer waits. */
export function StartScreen(context: TillContext): ReactNode {
  const { change, view, device } = context;
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    const end = new AbortController();
    if (hasNfc()) await readNfc(() => {}, end.signal);
    end.abort();
    await askForCamera();
    change({ shiftSince: new Date(Date.now() + view.clockOffsetMs).toISOString() });
  };
  return (
    <div className="stack till-start">
      <title>{t('till.start.page')}</title>
      <h1>{device === null ? t('till.start.heading') : <bdi>{device.merchant_name}</bdi>}</h1>
      <p className="soft">{t('till.start.text')}</p>
      <CashierField {...context} />
      <Button data-name="Start shift" kind="primary" large wide busy={busy} onClick={start}>
        {t('till.start.button')}
      </Button>
    </div>
  );
}
