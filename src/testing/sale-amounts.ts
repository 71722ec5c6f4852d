/** The default amount of a sale by a pay link or at an offline till. */
export const AMOUNT = 2_500_000;
/**
 * The amount that the payer is charged for such a sale: fees of 30 and 20 basis points are added, 5
 * basis points of cashback subtracted.
 */
export const PULLED = 2_511_250n;
