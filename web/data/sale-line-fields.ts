import type { LineItem, SaleLines } from '#prices/sale-lines.ts';

/**
 * Writes lines as the service accepts them. A discount in percent stays one, so that the service
 * and its reports know the percentage.
 */
export function lineFields(lineItems: readonly LineItem[]) {
  return lineItems.map(({ discount_rate: rate, discount: sum, category: _, ...line }) => {
    return { ...line, discount: rate == null || sum === 0 ? sum : { rate } };
  });
}

/** Writes the discount on the whole sale as the service accepts it. */
export function discountFields({ discount, discountRate: rate, discountName }: SaleLines) {
  return {
    discount: rate === undefined ? discount : { rate },
    ...(discountName === undefined ? {} : { discount_name: discountName }),
  };
}
