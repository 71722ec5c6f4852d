import { type ReactNode, useState } from 'react';
import { shortAddress } from './address.ts';
import { Icon } from './icon.tsx';
import './copy-field.css';
import { t } from './text/t.ts';

export function CopyId({ id }: { readonly id: string }): ReactNode {
  return <Copied text={id} shown={id} what={t('ui.copy_id.id')} />;
}

export function CopyAddress({ address }: { readonly address: string }): ReactNode {
  const shown = shortAddress(address);
  return <Copied text={address} shown={shown} what={t('ui.copy_id.address', { shown })} />;
}

interface CopiedProps {
  readonly text: string;
  readonly shown: string;
  readonly what: string;
}

function Copied({ text, shown, what }: CopiedProps): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    // Copying fails on pages without https, where the user can select the id beside the button.
    await navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <span className="copy-id">
      <span className="id soft" title={text}>
        {shown}
      </span>
      <button
        type="button"
        className="copy-button"
        aria-label={t('ui.copy_what', { what })}
        onClick={copy}
      >
        <Icon name={copied ? 'good' : 'copy'} />
      </button>
      <span className="unseen" role="status">
        {copied ? t('ui.copied_what', { what }) : ''}
      </span>
    </span>
  );
}
