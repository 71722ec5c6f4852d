import type { ReactNode } from 'react';

/**
 * The part of a sheet from below by which it is pulled away. Nothing for a keyboard: it has Escape.
 * What it looks like and does comes with the first sheet: no first load needs it.
 */
export function SheetGrip({ onAway }: { readonly onAway: () => void }): ReactNode {
  const connect = (grip: HTMLElement | null) => {
    if (grip === null) return;
    // Without a network the button closes the sheet.
    import('./drag-down.ts').then(
      ({ dragDown }) => dragDown(grip, onAway),
      () => {},
    );
  };
  return <div ref={connect} className="sheet-grip" aria-hidden="true" />;
}
