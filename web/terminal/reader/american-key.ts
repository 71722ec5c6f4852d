/** The typed input, by letters and by key positions. */
export interface Typed {
  readonly letters: string;
  readonly places: string;
}

/** The letters by `code`: without Shift, then with it. */
const KEYS: Readonly<Record<string, string>> = {
  Backquote: '`~',
  Minus: '-_',
  Equal: '=+',
  BracketLeft: '[{',
  BracketRight: ']}',
  Backslash: '\\|',
  IntlBackslash: '\\|',
  Semicolon: ';:',
  Quote: '\'"',
  Comma: ',<',
  Period: '.>',
  Slash: '/?',
  Space: '  ',
  NumpadDecimal: '..',
  NumpadDivide: '//',
  NumpadSubtract: '--',
};
const SHIFTED_DIGITS = ')!@#$%^&*(';

/** Returns the letter at this key's position on an American keyboard, or '' if there is none. */
export function americanKey({ code, shiftKey }: Pick<KeyboardEvent, 'code' | 'shiftKey'>): string {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  if (letter !== undefined) return shiftKey ? letter : letter.toLowerCase();
  const [, kind, digit = ''] = /^(Digit|Numpad)(\d)$/.exec(code) ?? [];
  if (kind !== undefined) {
    return kind === 'Digit' && shiftKey ? SHIFTED_DIGITS.charAt(Number(digit)) : digit;
  }
  return KEYS[code]?.charAt(shiftKey ? 1 : 0) ?? '';
}
