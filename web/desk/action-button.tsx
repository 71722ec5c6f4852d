import type { ReactNode } from 'react';
import type { Answer } from '../data/api.ts';
import { Button } from '../ui/button.tsx';
import { useSend } from './use-send.ts';

export interface ActionButtonProps<Value> {
  readonly request: (key: string) => Promise<Answer<Value>>;
  readonly onDone?: (value: Value) => void;
  readonly kind?: 'plain' | 'primary' | 'danger';
  /**
   * An accessible name that includes the object, for pages with several buttons of the same text.
   */
  readonly label?: string;
  /** The English name that scripts use to find the button. */
  readonly 'data-name'?: string;
  readonly children: ReactNode;
}

/**
 * A button that sends its request without a confirmation, for actions that can be undone or safely
 * repeated.
 */
export function ActionButton<Value>(props: ActionButtonProps<Value>): ReactNode {
  const { request, onDone, kind = 'plain', label, children } = props;
  const { 'data-name': dataName } = props;
  const sending = useSend();
  const run = async () => {
    const value = await sending.send(request);
    if (value !== null) onDone?.(value);
  };
  return (
    <span className="stack stack-tight action">
      <Button data-name={dataName} kind={kind} busy={sending.busy} onClick={run} aria-label={label}>
        {children}
      </Button>
      {sending.problem === null ? null : (
        <span className="field-error" role="alert">
          {sending.problem}
        </span>
      )}
    </span>
  );
}
