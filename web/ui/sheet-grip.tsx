import type { ReactNode } from 'react';

/**
 * Shows the grip for pulling a bottom sheet down. Keyboard users press Escape instead. Its style
 * and behavior load with the first sheet, because no first load shows one.
 */
export function SheetGrip({ onAway }: { readonly onAway: () => void }): ReactNode {
  const connect = (grip: HTMLElement | null) => {
    if (grip === null) return;
    // If loading fails, the close button still works.
    import('./drag-sheet-down.ts').then(
      ({ dragDown }) => dragDown(grip, onAway),
      () => {},
    );
  };
  return <div ref={connect} className="sheet-grip" aria-hidden="true" />;
}
