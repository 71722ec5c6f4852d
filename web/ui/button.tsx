import type { ButtonHTMLAttributes, ReactNode } from 'react';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'danger-quiet' | 'quiet';
  readonly large?: boolean;
  readonly wide?: boolean;
  /**
   * True while the action is in progress: the button keeps its focus and name, and ignores clicks.
   */
  readonly busy?: boolean;
}

export function buttonClass({ kind = 'plain', large, wide }: ButtonProps): string {
  return [
    'button',
    kind === 'plain' ? '' : `button-${kind}`,
    large === true ? 'button-large' : '',
    wide === true ? 'button-wide' : '',
  ].join(' ');
}

/**
 * A button that performs an action. A link that looks like a button is an `a` with {@link
 * buttonClass}.
 */
export function Button(props: ButtonProps): ReactNode {
  const { kind, large, wide, busy = false, children, onClick, className, ...rest } = props;
  return (
    <button
      type="button"
      {...rest}
      className={`${buttonClass(props)} ${className ?? ''}`}
      aria-busy={busy}
      aria-disabled={busy}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {busy ? <span className="spinner" aria-hidden="true" /> : null}
      {children}
    </button>
  );
}
