import type { ReactNode } from 'react';

/**
 * Shows the grip for pulling a bottom sheet away. Keyboard users press Escape. Its style and
 * behavior load with the first sheet, because the first load never shows one.
 */
export function SheetGrip({ onAway }: { readonly onAway: () => void }): ReactNode {
  const connect = (grip: HTMLElement | null) => {
    if (grip === null) return;
    // If loading fails, the close button still works.
    import('./drag-down.ts').then(
      ({ dragDown }) => dragDown(grip, onAway),
      () => {},
    );
  };
  return <div ref={connect} className="sheet-grip" aria-hidden="true" />;
}
