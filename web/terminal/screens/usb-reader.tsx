import type { ReactNode } from 'react';
import { readerCommand } from '../../data/reader-command.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { t } from '../../ui/text/t.ts';
import { addUsbReader, removeUsbReader, USB_PORT, type UsbState } from '../reader/usb-reader.ts';
import { keptUsbReader } from '../till-storage.ts';

/** Changes the reader and reloads: only then does the page's CSP gain or lose the reader's port. */
function change(how: () => void): void {
  how();
  location.reload();
}

function commandFor(port: number, code: string): string {
  const where = new URL('.', document.baseURI).origin;
  const other = port === USB_PORT ? '' : ` --port ${port}`;
  return readerCommand(`--till --server ${where} --pair ${code}${other}`);
}

function stateWords(state: UsbState): string {
  switch (state.is) {
    case 'away':
      return t('till.usb.not_running');
    case 'no_reader':
      return t('till.usb.no_reader');
    case 'ready':
      return t('till.usb.ready', { readers: state.readers.join(', ') });
    case 'refused':
      return t('till.usb.other_till');
    case 'replaced':
      return t('till.usb.other_window');
  }
}

export function UsbReaderCard({ state }: { readonly state: UsbState }): ReactNode {
  const usb = keptUsbReader();
  return (
    <div className="card stack">
      <h2>{t('till.usb.heading')}</h2>
      {usb === null ? (
        <>
          <p className="soft">{t('till.usb.text')}</p>
          <Button onClick={() => change(addUsbReader)}>{t('till.usb.connect_button')}</Button>
        </>
      ) : (
        <>
          {usb.token === null && usb.code !== null ? (
            <>
              <p>{t('till.usb.command_text')}</p>
              <CopyField
                label={t('till.usb.command')}
                value={commandFor(usb.port, usb.code)}
                whole
              />
            </>
          ) : null}
          <p role="status">{stateWords(state)}</p>
          <Button onClick={() => change(removeUsbReader)}>{t('till.usb.remove_button')}</Button>
        </>
      )}
    </div>
  );
}
