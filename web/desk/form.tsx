import type { FormEvent, ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';
import type { Sending } from './use-send.ts';

export interface FormProps {
  readonly sending: Sending;
  readonly onSend: () => void;
  /** The label of the submit button. */
  readonly send: string;
  readonly kind?: 'primary' | 'danger';
  /** The English name that scripts use to find that button. */
  readonly 'data-name'?: string | undefined;
  /**
   * Set if the action itself cancels something, so that a "Cancel" button beside it would be
   * ambiguous.
   */
  readonly cancelsSomething?: boolean | undefined;
  /** Called by the Cancel button. If absent, the form has no such button. */
  readonly onCancel?: (() => void) | undefined;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** Fields, a general error message and one submit button. Enter also submits. */
export function Form(props: FormProps): ReactNode {
  const { sending, onSend, send, kind = 'primary', onCancel, wide = false, children } = props;
  const { cancelsSomething = false, 'data-name': dataName } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!sending.busy) onSend();
  };
  // Typing clears an error. But a notice that the change may have been made remains until the
  // result is known.
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
