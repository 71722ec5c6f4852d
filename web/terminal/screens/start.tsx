import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { askForCamera } from '../reader/camera.ts';
import { hasNfc, readNfc } from '../reader/nfc.ts';
import { CashierField } from './cashier-field.tsx';
import type { TillContext } from './shift.tsx';

/** Asks once for whatever a browser has to be asked for: nobody is asked while a customer waits. */
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
      <title>Start of shift · Tapline</title>
      <h1>{device === null ? 'Start of shift' : <bdi>{device.merchant_name}</bdi>}</h1>
      <p className="soft">
        The browser may ask for sound, camera and NFC now, so that it won’t ask while a customer is
        waiting.
      </p>
      <CashierField {...context} />
      <Button kind="primary" large wide busy={busy} onClick={start}>
        Start shift
      </Button>
    </div>
  );
}
