import { type ReactNode, useState } from 'react';
import { addressMessage } from '../../data/ndef.ts';
import { readerCommand } from '../../data/reader-command.ts';
import type { DashboardTerminal, TagChip } from '../../data/types/dashboard.ts';
import { ConfirmButton } from '../../desk/confirm-button.tsx';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { saveFile } from '../../ui/save-file.ts';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { useMerchant } from '../use-merchant.ts';

const Qr = partOf(async () => (await import('../../ui/qr.tsx')).Qr);

export function TerminalTag({ terminal }: { readonly terminal: DashboardTerminal }): ReactNode {
  const { account, may } = useMerchant();
  const { tag_url: url, label } = terminal;
  const ndef = addressMessage(url);
  return (
    <section className="card stack">
      <h2>{t('dashboard.tag.heading')}</h2>
      <p className="soft">{t('dashboard.tag.text')}</p>
      <div className="tag-card">
        <p className="tag-shop">
          <bdi>{account.name}</bdi>
        </p>
        <Qr value={url} label={t('dashboard.tag.address_of_the_tag.label')} />
        <p>{t('dashboard.tag.scan_or_hold')}</p>
        <p className="soft small">
          <bdi>{label}</bdi>
        </p>
      </div>
      <CopyField label={t('dashboard.tag.tag_address.label')} value={url} />
      <CopyField label={t('dashboard.tag.ndef_bytes.label')} value={hexOf(ndef)} />
      <Files terminal={terminal} ndef={ndef} />
      <p className="soft small">{t('dashboard.tag.privacy')}</p>
      <div className="row">
        <Button onClick={() => window.print()}>{t('dashboard.tag.print_the_card.button')}</Button>
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
      <Button onClick={() => void savePdf()}>{t('dashboard.tag.files.button')}</Button>
      <Button onClick={() => void savePng()}>{t('dashboard.tag.files.button.download_qr')}</Button>
      <Button onClick={() => saveFile([ndef], `${name}.ndef`)}>
        {t('dashboard.tag.download_the_ndef_file.button')}
      </Button>
    </div>
  );
}

/** Returns the chip's settings on one line, in the format of the program that writes the chip. */
function forReader({ url_template, meta_read_key, file_read_key }: TagChip): string {
  return JSON.stringify({ url_template, meta_read_key, file_read_key });
}

/** Shows and sets up a chip that signs each tap. */
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
      <Button onClick={() => setIsAsking(true)}>{t('dashboard.button.set_up_chip')}</Button>
      {!isAsking ? null : made === null ? (
        <ConfirmDialog
          title={t('dashboard.tag.set_up_a_chip.heading')}
          send={t('dashboard.button.set_up_chip')}
          kind="primary"
          request={() =>
            call('POST /accounts/{account}/{mode}/terminals/{id}/tag/chip', { path: { id } })
          }
          onDone={setMade}
          onClose={close}
        >
          <p>{t('dashboard.tag.chip.text')}</p>
        </ConfirmDialog>
      ) : (
        <Dialog title={t('dashboard.tag.write_the_chip.heading')} onClose={close}>
          <p className="soft">
            {rich('dashboard.tag.chip.write', {
              command: () => <code>{readerCommand('cards write')}</code>,
            })}
          </p>
          <CopyField label={t('dashboard.tag.for_tapline_reader.label')} value={forReader(made)} />
          <CopyField label={t('dashboard.tag.meta_read_key.label')} value={made.meta_read_key} />
          <CopyField label={t('dashboard.tag.file_read_key.label')} value={made.file_read_key} />
          <CopyField
            label={t('dashboard.tag.address_for_the_chip.label')}
            value={made.url_template}
          />
          <Button kind="primary" onClick={close}>
            {t('desk.button.done')}
          </Button>
        </Dialog>
      )}
    </>
  );
}

function Replace({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  return (
    <ConfirmButton
      title={t('dashboard.tag.replace_tag_s_address.heading')}
      send={t('dashboard.button.replace_address')}
      request={() =>
        call('POST /accounts/{account}/{mode}/terminals/{id}/tag/rotate', { path: { id } })
      }
    >
      <p>{t('dashboard.tag.replace.text')}</p>
    </ConfirmButton>
  );
}
