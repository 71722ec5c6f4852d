import { type ReactNode, useState } from 'react';
import { addressMessage } from '../../data/ndef.ts';
import type { DashboardTerminal, TagChip } from '../../data/types/dashboard.ts';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { partOf } from '../../ui/part.ts';
import { useMerchant } from '../merchant.ts';
import { saveFile } from './save-file.ts';

const Qr = partOf(async () => (await import('../../ui/qr.tsx')).Qr);

/** The address that hangs at the counter: to write on a sticker, or to print as this card. */
export function TerminalTag({ terminal }: { readonly terminal: DashboardTerminal }): ReactNode {
  const { account, may } = useMerchant();
  const { tag_url: url, label } = terminal;
  const ndef = addressMessage(url);
  return (
    <section className="card stack">
      <h2>Tag</h2>
      <p className="soft">
        An address for the counter: write it to an NFC sticker, or print the card. A phone held to
        it opens what this till asks for, and pays it.
      </p>
      <div className="tag-card">
        <p className="tag-shop">
          <bdi>{account.name}</bdi>
        </p>
        <Qr value={url} label="Address of the tag" />
        <p>Scan to pay, or hold your phone here.</p>
        <p className="soft small">
          <bdi>{label}</bdi>
        </p>
      </div>
      <CopyField label="Tag address" value={url} />
      <CopyField label="NDEF bytes" value={hexOf(ndef)} />
      <Files terminal={terminal} ndef={ndef} />
      <p className="soft small">
        Anyone with a photo of it can see what this till asks for, and pay it, but no order, earlier
        sale or other receipt. A chip also shows the order and the items to the customer who taps
        it: each tap works once, and a photo does not.
      </p>
      <div className="row">
        <Button onClick={() => window.print()}>Print the card</Button>
        {may('admin') ? <Chip id={terminal.id} /> : null}
        {may('admin') ? <Replace id={terminal.id} /> : null}
      </div>
    </section>
  );
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface FilesProps {
  readonly terminal: DashboardTerminal;
  readonly ndef: Uint8Array<ArrayBuffer>;
}

/** For the program that writes the sticker, for one's own print, and for the table. */
function Files({ terminal, ndef }: FilesProps): ReactNode {
  const { account } = useMerchant();
  const { tag_url: url, label, livemode } = terminal;
  const name = `tag-${terminal.id}`;
  const savePng = async () => {
    const { qrPng } = await import('./tag-files.ts');
    saveFile([await qrPng(url)], `${name}.png`);
  };
  const savePdf = async () => {
    const [{ tableCardPdf }, { drawWords }] = await Promise.all([
      import('./tag-files.ts'),
      import('./tag-words.ts'),
    ]);
    const words = drawWords({ shop: account.name, terminal: label, url, isTest: !livemode });
    const title = `${account.name} · ${label}`;
    saveFile([await tableCardPdf({ url, title, words })], `${name}.pdf`);
  };
  return (
    <div className="row">
      <Button onClick={() => void savePdf()}>Download the table card (PDF)</Button>
      <Button onClick={() => void savePng()}>Download the QR code (PNG)</Button>
      <Button onClick={() => saveFile([ndef], `${name}.ndef`)}>Download the NDEF file</Button>
    </div>
  );
}

/** What is written into the chip, on one line for the program that writes it. */
function forReader({ url_template, meta_read_key, file_read_key }: TagChip): string {
  return JSON.stringify({ url_template, meta_read_key, file_read_key });
}

/** A tag that signs each tap. */
function Chip({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const [isAsking, setIsAsking] = useState(false);
  const [made, setMade] = useState<TagChip | null>(null);
  const close = () => {
    setIsAsking(false);
    setMade(null);
  };
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>Set up a chip</Button>
      {!isAsking ? null : made === null ? (
        <ConfirmDialog
          title="Set up a chip?"
          send="Set up a chip"
          kind="primary"
          request={() =>
            call('POST /accounts/{account}/{mode}/terminals/{id}/tag/chip', { path: { id } })
          }
          onDone={setMade}
          onClose={close}
        >
          <p>
            You need a blank NTAG 424 DNA. A chip that was set up here before still opens the page,
            but no longer proves a tap.
          </p>
        </ConfirmDialog>
      ) : (
        <Dialog title="Write the chip" onClose={close}>
          <p className="soft">
            With a USB reader, run <code>npx tapline-reader cards write</code>, paste the first
            line, and hold the blank chip on it. These keys are shown only once.
          </p>
          <CopyField label="For tapline-reader" value={forReader(made)} />
          <CopyField label="Meta read key" value={made.meta_read_key} />
          <CopyField label="File read key" value={made.file_read_key} />
          <CopyField label="Address for the chip" value={made.url_template} />
          <Button kind="primary" onClick={close}>
            Done
          </Button>
        </Dialog>
      )}
    </>
  );
}

function Replace({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>Replace the address</Button>
      {isAsking ? (
        <ConfirmDialog
          title="Replace the tag’s address?"
          send="Replace the address"
          request={() =>
            call('POST /accounts/{account}/{mode}/terminals/{id}/tag/rotate', { path: { id } })
          }
          onDone={() => setIsAsking(false)}
          onClose={() => setIsAsking(false)}
        >
          <p>Stickers and cards with the current address stop working.</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}
