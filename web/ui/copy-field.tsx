import { type FocusEvent, type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';
import './copy-field.css';
import { t } from './text/t.ts';

export interface CopyFieldProps {
  readonly 'data-name'?: string;
  readonly label: string;
  readonly value: string;
  /** True to show the whole text on several lines, for texts that users copy to paper. */
  readonly whole?: boolean;
}

/** Shows a key, id or link with a copy button. If copying fails, the user can select the text. */
export function CopyField(props: CopyFieldProps): ReactNode {
  const { label, value, whole = false } = props;
  const id = useId();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setCopied(true);
    } catch {
      document.getElementById(id)?.focus();
    }
  };
  const shared = {
    id,
    className: 'input id',
    readOnly: true,
    // Keys, ids and addresses are written from left to right in every language.
    dir: 'ltr' as const,
    'data-name': props['data-name'],
    translate: 'no' as const,
    value,
    onFocus: ({ target }: FocusEvent<HTMLInputElement | HTMLTextAreaElement>) => target.select(),
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="copy">
        {whole ? <textarea rows={3} {...shared} /> : <input {...shared} />}
        <Button onClick={copy} aria-label={t('ui.copy_what', { what: label })}>
          {copied ? t('ui.copied') : t('ui.copy')}
        </Button>
      </div>
      <span className="unseen" role="status">
        {copied ? t('ui.copied_what', { what: label }) : ''}
      </span>
    </div>
  );
}
