import { Component, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { t } from './text/t.ts';

/** Minimum time between reloads, so that a missing part cannot cause an endless loop. */
const RELOAD_EVERY_MS = 10_000;
const RELOADED = 'tapline.reloaded';

let isBusy = (): boolean => false;

/** Sets the condition under which the page must not reload by itself, such as a payment. */
export function holdReloads(condition: () => boolean): void {
  isBusy = condition;
}

function mayReload(): boolean {
  if (isBusy()) return false;
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (!navigator.onLine || Date.now() - last < RELOAD_EVERY_MS) return false;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  return true;
}

/**
 * Reloads the page when a part that loads later is missing, for example after an update of the
 * service.
 */
export function reloadWhenPartsAreGone(): void {
  window.addEventListener('vite:preloadError', () => {
    if (mayReload()) location.reload();
  });
}

interface ErrorBoundaryState {
  readonly failed: boolean;
}

interface ErrorBoundaryProps {
  readonly children: ReactNode;
  /**
   * True inside a frame that keeps working, such as the navigation. Give it a `key` per page, which
   * resets it.
   */
  readonly isPart?: boolean;
}

/** Catches errors while rendering, and explains the failure instead of leaving an empty page. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override readonly state: ErrorBoundaryState = { failed: false };

  static getDerivedStateFromError(): ErrorBoundaryState {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    const Place = this.props.isPart === true ? 'div' : 'main';
    return (
      <Place className="sheet">
        <Notice tone="warn" role="alert">
          <strong>{t('ui.broken.heading')}</strong>
          <p>{t('ui.broken.text')}</p>
          <Button onClick={() => location.reload()}>{t('ui.broken.button')}</Button>
        </Notice>
      </Place>
    );
  }
}
