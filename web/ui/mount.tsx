import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './ui.css';
import { ErrorBoundary, reloadWhenPartsAreGone } from './error-boundary.tsx';
import { ToastProvider } from './toast.tsx';

/** Renders an app into its page. */
export function mount(app: ReactNode): void {
  const place = document.getElementById('app');
  if (place === null) throw new Error('The page has no element #app');
  reloadWhenPartsAreGone();
  ignoreSecondClicks();
  createRoot(place).render(
    <StrictMode>
      <ToastProvider>
        <ErrorBoundary>{app}</ErrorBoundary>
      </ToastProvider>
    </StrictMode>,
  );
}

/** What a person aims at. A label and its field count as no control: one click makes two events. */
const CONTROL = ':is(a,button,summary)';

/**
 * Swallows the second click of a double click if it hits another control than the first, because
 * the first one has replaced the screen: a double click on `New payment` opened the catalog. On a
 * control that stays, such as a key, both count; `Button` knows which of its clicks was one too
 * many.
 */
function ignoreSecondClicks(): void {
  let first: Element | null = null;
  const onClick = (event: MouseEvent) => {
    const control = event.target instanceof Element ? event.target.closest(CONTROL) : null;
    if (event.detail < 2) first = control;
    else if (control !== first) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  window.addEventListener('click', onClick, { capture: true });
}
