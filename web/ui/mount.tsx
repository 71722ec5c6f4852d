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
  createRoot(place).render(
    <StrictMode>
      <ToastProvider>
        <ErrorBoundary>{app}</ErrorBoundary>
      </ToastProvider>
    </StrictMode>,
  );
}
