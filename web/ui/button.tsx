import { type ButtonHTMLAttributes, type MouseEvent, type ReactNode, useRef } from 'react';

/** Maximum time between the taps of a double tap, which phones report as separate clicks. */
const DOUBLE_TAP_MS = 300;

/**
 * True for the second click of a double click, which must not repeat the action, even if the first
 * click's action has already ended. A separate mouse click counts, however soon it comes.
 */
function isSecondClick({ detail, nativeEvent, timeStamp }: ClickOf, clickedAt: number): boolean {
  if (detail > 1) return true;
  const isTap = 'pointerType' in nativeEvent && nativeEvent.pointerType === 'touch';
  return isTap && timeStamp - clickedAt < DOUBLE_TAP_MS;
}

type ClickOf = MouseEvent<HTMLButtonElement>;

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'danger-quiet' | 'quiet';
  readonly large?: boolean;
  readonly wide?: boolean;
  /**
   * True while the action is in progress: the button keeps its focus and name, and ignores clicks,
   * including the second one of a double click.
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
  const clickedAt = useRef(0);
  const wasBusy = useRef(false);
  if (busy) wasBusy.current = true;
  return (
    <button
      type="button"
      {...rest}
      className={`${buttonClass(props)} ${className ?? ''}`}
      aria-busy={busy}
      aria-disabled={busy}
      onClick={(event) => {
        const isSecond = wasBusy.current && isSecondClick(event, clickedAt.current);
        if (busy || isSecond) return event.preventDefault();
        clickedAt.current = event.timeStamp;
        wasBusy.current = false;
        onClick?.(event);
      }}
    >
      {busy ? <span className="spinner" aria-hidden="true" /> : null}
      {children}
    </button>
  );
}
