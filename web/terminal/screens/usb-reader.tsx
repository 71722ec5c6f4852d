import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { t } from '../../ui/text/t.ts';
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
      return t('till.usb_reader.the_reader_program_is');
    case 'no_reader':
      return t('till.usb_reader.the_program_is_running');
    case 'ready':
      return t('till.usb_reader.ready_join', { join: state.readers.join(', ') });
    case 'refused':
      return t('till.usb_reader.the_program_is_connected');
    case 'replaced':
      return t('till.usb_reader.another_window_of_this');
  }
}

/** A reader on a cable, which a program on this computer speaks to. */
export function UsbReaderCard({ state }: { readonly state: UsbState }): ReactNode {
  const usb = keptUsbReader();
  return (
    <div className="card stack">
      <h2>{t('till.usb_reader.heading.usb_reader')}</h2>
      {usb === null ? (
        <>
          <p className="soft">{t('till.usb_reader.a_reader_that_is')}</p>
          <Button onClick={() => change(addUsbReader)}>
            {t('till.usb_reader.button.connect_a_usb_reader')}
          </Button>
        </>
      ) : (
        <>
          {usb.token === null && usb.code !== null ? (
            <>
              <p>{t('till.usb_reader.run_this_once_on')}</p>
              <CopyField
                label={t('till.usb_reader.label.command')}
                value={commandFor(usb.port, usb.code)}
                whole
              />
            </>
          ) : null}
          <p role="status">{stateWords(state)}</p>
          <Button onClick={() => change(removeUsbReader)}>
            {t('till.usb_reader.button.remove_the_usb_reader')}
          </Button>
        </>
      )}
    </div>
  );
}
