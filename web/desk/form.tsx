import type { FormEvent, ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';
import type { Sending } from './send.ts';

export interface FormProps {
  readonly sending: Sending;
  readonly onSend: () => void;
  /** What the button that sends says. */
  readonly send: string;
  readonly kind?: 'primary' | 'danger';
  /** The English name by which scripts find that button. */
  readonly 'data-name'?: string | undefined;
  /** It cancels something: beside it, “Cancel” would mean the opposite. */
  readonly cancelsSomething?: boolean | undefined;
  /** Without it the form has no way out but the page's. */
  readonly onCancel?: (() => void) | undefined;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** Fields, what is wrong with none of them, and one button that sends. Enter sends too. */
export function Form(props: FormProps): ReactNode {
  const { sending, onSend, send, kind = 'primary', onCancel, wide = false, children } = props;
  const { cancelsSomething = false, 'data-name': dataName } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!sending.busy) onSend();
  };
  // What was wrong is being put right. What may have been done stays said until it is known.
  const onChange = ({ target }: FormEvent) => {
    const isOfThis = target instanceof Element && target.matches('[aria-invalid=true]');
    if (isOfThis || (sending.problem !== null && !sending.isUnknown)) sending.clear();
  };
  return (
    <form className="stack" onSubmit={submit} onChange={onChange} noValidate>
      {children}
      {sending.problem === null ? null : (
        <Notice tone="bad" role="alert">
          <p>{sending.problem}</p>
        </Notice>
      )}
      <div className="row">
        <Button data-name={dataName} type="submit" kind={kind} busy={sending.busy} wide={wide}>
          {send}
        </Button>
        {onCancel === undefined ? null : (
          <Button onClick={onCancel}>
            {cancelsSomething ? t('desk.button.go_back') : t('desk.button.cancel')}
          </Button>
        )}
      </div>
    </form>
  );
}
