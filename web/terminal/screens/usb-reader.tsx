import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { keptUsbReader } from '../kept.ts';
import { addUsbReader, removeUsbReader, USB_PORT, type UsbState } from '../reader/usb.ts';

/** The page's policy names the reader's port, or no longer does, only after a reload. */
function change(how: () => void): void {
  how();
  location.reload();
}

function commandFor(port: number, code: string): string {
  const where = new URL('.', document.baseURI).origin;
  const other = port === USB_PORT ? '' : ` --port ${port}`;
  return `npx tapline-reader --till --server ${where} --pair ${code}${other}`;
}

function stateWords(state: UsbState): string {
  switch (state.is) {
    case 'away':
      return 'The reader program is not running on this computer.';
    case 'no_reader':
      return 'The program is running, but no reader is plugged in.';
    case 'ready':
      return `Ready: ${state.readers.join(', ')}`;
    case 'refused':
      return 'The program is connected to another till. Remove the reader here and add it again.';
    case 'replaced':
      return 'Another window of this till is using the reader. Reload this one to use it here.';
  }
}

/** A reader on a cable, which a program on this computer speaks to. */
export function UsbReaderCard({ state }: { readonly state: UsbState }): ReactNode {
  const usb = keptUsbReader();
  return (
    <div className="card stack">
      <h2>USB reader</h2>
      {usb === null ? (
        <>
          <p className="soft">
            A reader that is plugged into this computer reads phones and cards. It needs Node.js and
            Chrome or Edge.
          </p>
          <Button onClick={() => change(addUsbReader)}>Connect a USB reader</Button>
        </>
      ) : (
        <>
          {usb.token === null && usb.code !== null ? (
            <>
              <p>Run this once on this computer. The code works for one reader.</p>
              <CopyField label="Command" value={commandFor(usb.port, usb.code)} whole />
            </>
          ) : null}
          <p role="status">{stateWords(state)}</p>
          <Button onClick={() => change(removeUsbReader)}>Remove the USB reader</Button>
        </>
      )}
    </div>
  );
}
