import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Drawing, Icon } from './icon.tsx';
import type { CART_ICONS } from './icon-names.ts';
import { quantityOf, quantityText } from './quantity-text.ts';
import { t } from './text/t.ts';

/** SVG paths that the build inserts: see ui/icon-paths.ts. */
const PATHS = import.meta.env.VITE_CART_ICONS as Readonly<Record<keyof typeof CART_ICONS, string>>;

const ONE_PIECE = 1_000n;

function atMost(value: bigint, most: bigint): bigint {
  return value < most ? value : most;
}

interface LineProps {
  readonly name: string;
  /** Quantities in thousandths. */
  readonly left: bigint;
  readonly chosen: bigint;
  readonly readOnly: boolean;
  readonly onChoose: (quantity: bigint) => void;
}

/** Adds and takes one piece, or what is left of a weighed item. */
function Line({ name, left, chosen, readOnly, onChoose }: LineProps): ReactNode {
  const quantities = {
    chosen: quantityText(quantityOf(chosen)),
    left: quantityText(quantityOf(left)),
  };
  return (
    <div className="row row-apart">
      <span>
        <bdi>{name}</bdi>
        <br />
        <span className="soft small">
          {left > 0n ? t('ui.refund_items.chosen', quantities) : t('ui.refund_items.returned')}
        </span>
      </span>
      <span className="row">
        <button
          type="button"
          className="button"
          aria-label={t('ui.refund_items.take', { name })}
          disabled={readOnly || chosen === 0n}
          onClick={() => onChoose(chosen - atMost(chosen, ONE_PIECE))}
        >
          <Icon name="none" />
        </button>
        <button
          type="button"
          className="button"
          aria-label={t('ui.refund_items.add', { name })}
          disabled={readOnly || chosen >= left}
          onClick={() => onChoose(atMost(chosen + ONE_PIECE, left))}
        >
          <Drawing path={PATHS.more} />
        </button>
      </span>
    </div>
  );
}

export interface RefundItemsProps {
  readonly names: readonly string[];
  /** What is left of each line, and what of it was chosen, in thousandths. */
  readonly left: readonly bigint[];
  readonly chosen: readonly bigint[];
  /** The value of the chosen lines, or `null` without one. */
  readonly sum: string | null;
  readonly error: string | null;
  readonly readOnly: boolean;
  readonly onChosen: (chosen: readonly bigint[]) => void;
}

/** The lines of a sale, to choose what a refund returns. */
export function RefundItems(props: RefundItemsProps): ReactNode {
  const { names, left, chosen, sum, error, readOnly, onChosen } = props;
  return (
    <>
      <div className="stack">
        {[...names.entries()].map(([line, name]) => (
          <Line
            key={line}
            name={name}
            left={left[line] ?? 0n}
            chosen={chosen[line] ?? 0n}
            readOnly={readOnly}
            onChoose={(quantity) =>
              onChosen(left.map((_, at) => (at === line ? quantity : (chosen[at] ?? 0n))))
            }
          />
        ))}
      </div>
      <p role="status">{sum === null ? null : t('ui.refund_items.sum', { sum })}</p>
      {error === null ? null : (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

export interface ItemsButtonProps {
  readonly isOpen: boolean;
  readonly disabled: boolean;
  readonly onClick: () => void;
}

/** Turns from the amount to the lines of the sale, and back. */
export function ItemsButton({ isOpen, ...rest }: ItemsButtonProps): ReactNode {
  return (
    <Button data-name={isOpen ? 'Amount' : 'Items'} {...rest}>
      {isOpen ? t('ui.refund_items.amount_button') : t('ui.refund_items.button')}
    </Button>
  );
}
