import { type ReactNode, useState } from 'react';
import { Icon } from './icon.tsx';
import './copy-field.css';

/** The id of what a page is about, to carry into a program or a message. */
export function CopyId({ id }: { readonly id: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    // Refused where the page is not served securely: the id beside it can be selected.
    await navigator.clipboard.writeText(id).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <span className="copy-id">
      <span className="id soft">{id}</span>
      <button type="button" className="copy-button" aria-label="Copy ID" onClick={copy}>
        <Icon name={copied ? 'good' : 'copy'} />
      </button>
      <span className="unseen" role="status">
        {copied ? 'ID copied' : ''}
      </span>
    </span>
  );
}
