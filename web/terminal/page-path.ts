import { useSyncExternalStore } from 'react';
import { fromRoot } from '../data/root-path.ts';

/** Returns the current page: the path after `/terminal`, without leading or trailing slashes. */
export function currentPlace(): string {
  const root = fromRoot('terminal').pathname;
  return decodeURI(location.pathname.slice(root.length)).replace(/^\/|\/$/g, '');
}

function subscribe(changed: () => void): () => void {
  window.addEventListener('popstate', changed);
  return () => window.removeEventListener('popstate', changed);
}

export function usePlace(): string {
  return useSyncExternalStore(subscribe, currentPlace);
}

function addressOf(path: string): URL {
  return fromRoot(path === '' ? 'terminal' : `terminal/${path}`);
}

export function goTo(path: string): void {
  history.pushState(null, '', addressOf(path));
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** Changes the URL without adding an entry to the browser's history. */
export function replacePlace(path: string): void {
  history.replaceState(null, '', addressOf(path));
  window.dispatchEvent(new PopStateEvent('popstate'));
}
