/**
 * Maps each of A to Z to a similar letter: people recognize the word, and tests recognize that the
 * text is from the catalog.
 */
const LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter, position) => [
    letter,
    [...'áƀçđéƒğħíĵķłɱñóƥɋřšťúṽŵẋýžÁƁÇĐÉƑĞĦÍĴĶŁṀÑÓƤɊŘŠŤÚṼŴẊÝŽ'][position] ?? letter,
  ]),
);

const VOWEL = /[aeiou]/i;
/**
 * The extra length of the pseudo-language compared with English, as a fraction. German and French
 * are about this much longer, too.
 */
const LONGER = 0.4;

/**
 * Returns the text in accented letters. Some letters are doubled, so that the text is 40 % longer.
 */
export function pseudoText(text: string): string {
  const letters = [...text];
  let missing = Math.ceil(letters.filter((letter) => letter in LETTERS).length * LONGER);
  const twice = new Set<number>();
  for (const isWanted of [(one: string) => VOWEL.test(one), (one: string) => one in LETTERS]) {
    for (const [position, letter] of letters.entries()) {
      if (missing === 0) break;
      if (!isWanted(letter) || twice.has(position)) continue;
      twice.add(position);
      missing -= 1;
    }
  }
  return letters
    .map((letter, position) => (LETTERS[letter] ?? letter).repeat(twice.has(position) ? 2 : 1))
    .join('');
}
