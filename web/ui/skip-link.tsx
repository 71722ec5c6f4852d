import type { MouseEvent, ReactNode } from 'react';
import './skip-link.css';
import { t } from './text/t.ts';

function goToContent(event: MouseEvent): void {
  event.preventDefault();
  const main = document.querySelector('main');
  if (main === null) return;
  // Focuses the heading, if there is one, as every navigation does.
  const target = main.querySelector('h1') ?? main;
  target.tabIndex = -1;
  target.focus();
}

/** The first Tab stop, which skips the navigation. Visible while focused. */
export function SkipLink(): ReactNode {
  return (
    <a className="skip button button-primary" href={location.href} onClick={goToContent}>
      {t('ui.skip_link')}
    </a>
  );
}
