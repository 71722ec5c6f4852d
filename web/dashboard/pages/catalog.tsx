import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { rateText } from '../../ui/percent.ts';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { rich, unseen } from '../../ui/text/tagged-text.ts';
import { useToast } from '../../ui/toast.tsx';
import { Money } from '../../ui/typed-money.tsx';
import type { Account } from '../account/account-settings.ts';
import { Swatch } from '../account/color-choice.tsx';
import { CatalogDialog } from '../terminals/catalog-dialog.tsx';
import { CatalogIcon } from '../terminals/catalog-icon.tsx';
import { CatalogImport } from '../terminals/catalog-import.tsx';
import { type CatalogItem, type Step, useMoves } from '../terminals/use-move-item.ts';
import { useAccount, useMerchant, useRead } from '../use-merchant.ts';
import '../account/shop.css';

/** The item in the open dialog; `null` for a new item. */
interface Open {
  readonly is: 'edited' | 'deleted';
  readonly item: CatalogItem | null;
}

export function Catalogue(): ReactNode {
  const { scope, may } = useMerchant();
  const account = useAccount();
  const query = useRead('GET /accounts/{account}/{mode}/catalogue');
  const [open, setOpen] = useState<Open | null>(null);
  const items = query.data?.data ?? [];
  const add = may('admin') ? (
    <Button
      data-name="Add item"
      kind="primary"
      onClick={() => setOpen({ is: 'edited', item: null })}
    >
      {t('dashboard.catalog.add.button')}
    </Button>
  ) : null;
  return (
    <Page title={t('dashboard.page.catalogue')} actions={items.length === 0 ? null : add}>
      <Files />
      <LoadTogether>
        <Loaded query={account}>
          {(shop) => (
            <Loaded query={query} shape="rows">
              {({ data }) => (
                <>
                  {data.length === 0 ? (
                    <NoItems action={add} />
                  ) : (
                    <Items key={scope.join()} shop={shop} items={data} onOpen={setOpen} />
                  )}
                  {open === null ? null : (
                    <Opened open={open} shop={shop} items={data} onOpen={setOpen} />
                  )}
                </>
              )}
            </Loaded>
          )}
        </Loaded>
      </LoadTogether>
    </Page>
  );
}

/** Buttons for the catalog as a file of a spreadsheet. An empty one shows the columns. */
function Files(): ReactNode {
  const { account, mode, may } = useMerchant();
  const [imports, setImports] = useState(false);
  return (
    <div className="row">
      {may('admin') ? (
        <Button data-name="Import" onClick={() => setImports(true)}>
          {t('dashboard.catalog.import.open_button')}
        </Button>
      ) : null}
      <a
        className={buttonClass({})}
        data-name="Export"
        href={fromRoot(`api/dashboard/v1/accounts/${account.id}/${mode}/catalogue.csv`).href}
        download
      >
        {t('dashboard.catalog.export')}
      </a>
      {imports ? <CatalogImport onClose={() => setImports(false)} /> : null}
    </div>
  );
}

function NoItems({ action }: { readonly action: ReactNode }): ReactNode {
  return (
    <EmptyState
      drawing={<EmptyDrawing name="sales" />}
      title={t('dashboard.catalog.empty.heading')}
      action={action}
    >
      {t('dashboard.catalog.empty.text')}
    </EmptyState>
  );
}

interface ItemsProps {
  readonly shop: Account;
  readonly items: readonly CatalogItem[];
  readonly onOpen: (open: Open | null) => void;
}

function Items({ shop, items, onOpen }: ItemsProps): ReactNode {
  const { may } = useMerchant();
  const { move, moved, problem } = useMoves();
  const hidden = items.filter(({ currency }) => currency !== shop.currency).length;
  const values = { name: moved?.item.name ?? '', place: (moved?.index ?? 0) + 1 };
  return (
    <>
      <p className="soft">{t('dashboard.catalog.text')}</p>
      {hidden === 0 ? null : (
        <Notice tone="warn">
          <p>
            {t('dashboard.catalog.other_currency', {
              count: hidden,
              currency: (shop.currency ?? 'usdc').toUpperCase(),
            })}
          </p>
        </Notice>
      )}
      {problem === null ? null : (
        <Notice tone="bad" role="alert">
          <p>{problem}</p>
        </Notice>
      )}
      <ol className="card catalog-list" aria-label={t('dashboard.page.catalogue')}>
        {items.map((item, index) => (
          <li key={item.id} className="catalog-item">
            <ItemWords item={item} isShown={item.currency === shop.currency} />
            {may('admin') ? (
              <span className="catalog-actions">
                <MoveButton item={item} step={-1} isEnd={index === 0} onMove={move} />
                <MoveButton item={item} step={1} isEnd={index === items.length - 1} onMove={move} />
                <Button onClick={() => onOpen({ is: 'edited', item })}>
                  {rich('dashboard.catalog.edit.button_of', { of: unseen }, { name: item.name })}
                </Button>
              </span>
            ) : null}
          </li>
        ))}
      </ol>
      <p className="unseen" role="status">
        {moved === null ? null : t('dashboard.catalog.moved', { ...values, count: items.length })}
      </p>
    </>
  );
}

function taxWords({ tax_rate, tax_inclusive }: CatalogItem): string {
  if (tax_rate === 0) return t('dashboard.catalog.tax.none');
  const rate = rateText(tax_rate);
  return tax_inclusive
    ? t('dashboard.catalog.tax_within', { rate })
    : t('dashboard.catalog.tax_on_top', { rate });
}

interface ItemWordsProps {
  readonly item: CatalogItem;
  /** False if the item's currency is not the shop's. */
  readonly isShown: boolean;
}

function ItemWords({ item, isShown }: ItemWordsProps): ReactNode {
  const { name, unit_amount: price, currency, color } = item;
  return (
    <>
      <Swatch color={color} />
      <span className="catalog-what">
        <bdi className="catalog-name">{name}</bdi>
        <span className="soft small">{taxWords(item)}</span>
        {isShown ? null : <Status tone="warn">{t('dashboard.catalog.not_on_tills')}</Status>}
      </span>
      <span className="catalog-price">
        <Money units={BigInt(price)} currency={currency} />
      </span>
    </>
  );
}

interface MoveButtonProps {
  readonly item: CatalogItem;
  readonly step: Step;
  /** True at the end of the list, where the button does nothing but keeps the focus. */
  readonly isEnd: boolean;
  readonly onMove: (id: string, step: Step) => void;
}

function MoveButton({ item: { id, name }, step, isEnd, onMove }: MoveButtonProps): ReactNode {
  const label =
    step === -1
      ? t('dashboard.catalog.move_up', { name })
      : t('dashboard.catalog.move_down', { name });
  return (
    <button
      type="button"
      className="button catalog-move"
      aria-disabled={isEnd}
      onClick={() => onMove(id, step)}
    >
      <span className="unseen">{label}</span>
      <CatalogIcon name={step === -1 ? 'up' : 'down'} />
    </button>
  );
}

function Opened({ open, shop, items, onOpen }: ItemsProps & { readonly open: Open }): ReactNode {
  const { call } = useMerchant();
  const toast = useToast();
  const close = () => onOpen(null);
  const { is, item } = open;
  if (is === 'edited' || item === null) {
    return (
      <CatalogDialog
        account={shop}
        items={items}
        item={item}
        onClose={close}
        onDelete={(one) => onOpen({ is: 'deleted', item: one })}
      />
    );
  }
  return (
    <ConfirmDialog
      title={t('dashboard.catalog.delete.heading', { name: item.name })}
      send={t('dashboard.catalog.delete.button')}
      request={() =>
        call('DELETE /accounts/{account}/{mode}/catalogue/{item}', { path: { item: item.id } })
      }
      onDone={() => {
        toast(t('dashboard.catalog.deleted', { name: item.name }));
        close();
      }}
      onClose={close}
    >
      <p>{t('dashboard.catalog.delete.text')}</p>
    </ConfirmDialog>
  );
}
