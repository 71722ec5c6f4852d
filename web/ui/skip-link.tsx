import type { MouseEvent, ReactNode } from 'react';
import './skip-link.css';
import { t } from './text/t.ts';

function goToContent(event: MouseEvent): void {
  event.preventDefault();
  const main = document.querySelector('main');
  if (main === null) return;
  // The heading where there is one: it has the focus after every other arrival too.
  const place = main.querySelector('h1') ?? main;
  place.tabIndex = -1;
  place.focus();
}

/** The first stop of the tab key where there is a navigation: past it. Seen while in focus. */
export function SkipLink(): ReactNode {
  return (
    <a className="skip button button-primary" href={location.href} onClick={goToContent}>
      {t('ui.skip_link')}
    </a>
  );
}
