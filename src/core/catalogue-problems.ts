/**
 * The reasons for which a row of a catalog's file is refused, as the API returns them. The
 * dashboard shows its own texts.
 */
export const CATALOGUE_PROBLEMS = {
  cells: 'The row has more cells than the header.',
  name: 'name: write 1 to 200 characters, in one line.',
  name_twice: 'name: an earlier row changes or adds the item with this name.',
  price: 'price: write a number with no more decimals than the currency has.',
  price_two_readings:
    'price: one mark before three digits can mean two sums. Write 1500 or 1.50, not 1.500.',
  tax_rate: 'tax_rate: write a percentage from 0 to 100, or the name of a tax rate.',
  category: 'category: write at most 60 characters, in one line.',
  barcode: 'barcode: write at most 60 letters, digits and signs, without blanks.',
  barcode_rounded: 'barcode: a spreadsheet has rounded it. Format its column as text.',
  barcode_twice: 'barcode: an earlier row has the same one.',
  color: 'color: write # and six hexadecimal digits, such as #a05a2c.',
  full: 'The catalog would have more than 2000 items.',
} as const;

export type CatalogueProblem = keyof typeof CATALOGUE_PROBLEMS;
