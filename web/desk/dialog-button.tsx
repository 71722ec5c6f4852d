import { type ReactNode, useState } from 'react';
import { Button, type ButtonProps } from '../ui/button.tsx';

export interface DialogButtonProps extends Omit<ButtonProps, 'onClick' | 'children'> {
  readonly words: ReactNode;
  /** Draws the dialog, which stays open until it calls `close`. */
  readonly children: (close: () => void) => ReactNode;
}

export function DialogButton({ words, children, ...button }: DialogButtonProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setIsOpen(true)}>
        {words}
      </Button>
      {isOpen ? children(() => setIsOpen(false)) : null}
    </>
  );
}
