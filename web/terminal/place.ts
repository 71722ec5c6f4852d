import { useSyncExternalStore } from 'react';
import { fromRoot } from '../data/root.ts';

/** Where in the app one is: the part of the address behind `/terminal`, without slashes around. */
function currentPlace(): string {
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

function addressOf(place: string): URL {
  return fromRoot(place === '' ? 'terminal' : `terminal/${place}`);
}

export function goTo(place: string): void {
  history.pushState(null, '', addressOf(place));
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** Without a step that the back button would lead to. */
export function replacePlace(place: string): void {
  history.replaceState(null, '', addressOf(place));
  window.dispatchEvent(new PopStateEvent('popstate'));
}
