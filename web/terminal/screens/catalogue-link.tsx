import type { ReactNode } from 'react';
import { buttonClass } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import type { Cart } from '../cart.ts';
import { goTo } from '../page-path.ts';

export function CatalogueLink({ cart }: { readonly cart: Cart | null }): ReactNode {
  const count = cart?.lines.length ?? 0;
  return (
    <a
      className={buttonClass({ kind: 'quiet' })}
      data-name="Catalogue"
      href="terminal/catalogue"
      onClick={(event) => {
        event.preventDefault();
        goTo('catalogue');
      }}
    >
      {count === 0 ? t('till.catalogue.heading') : t('till.catalogue.link_cart', { count })}
    </a>
  );
}
