import type { ReactNode } from 'react';
import { buttonClass } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { goTo } from '../page-path.ts';

export function FindLink(): ReactNode {
  return (
    <a
      className={buttonClass({ kind: 'quiet' })}
      href="terminal/find"
      onClick={(event) => {
        event.preventDefault();
        goTo('find');
      }}
    >
      {t('till.find.heading')}
    </a>
  );
}
