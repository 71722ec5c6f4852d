import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './ui.css';
import { ErrorBoundary, reloadWhenPartsAreGone } from './error-boundary.tsx';
import { ToastProvider } from './toast.tsx';

export function mount(app: ReactNode): void {
  const element = document.getElementById('app');
  if (element === null) throw new Error('The page has no element #app');
  reloadWhenPartsAreGone();
  ignoreSecondClicks();
  createRoot(element).render(
    <StrictMode>
      <ToastProvider>
        <ErrorBoundary>{app}</ErrorBoundary>
      </ToastProvider>
    </StrictMode>,
  );
}

/**
 * Matches the controls that a person aims at. A label and its field are excluded: one click on them
 * makes two events.
 */
const CONTROL = ':is(a,button,summary)';

/**
 * Swallows the second click of a double click if it hits another control, because the first click
 * has replaced the screen: a double click on `New payment` opened the catalog. On a control that
 * stays, such as a key, both clicks count; `Button` itself ignores the second one.
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
