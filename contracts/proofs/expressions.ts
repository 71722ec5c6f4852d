/** A 256-bit word or a boolean, as an expression over the arguments of a call. */
export interface Term {
  /** Its name in the query for the solver, or the constant itself. */
  readonly name: string;
  readonly sort: 'word' | 'truth';
  /** The value of a constant; `null` if it depends on the arguments. */
  readonly value: bigint | null;
  /** The boolean that this word represents (1 for true, 0 for false); `null` for other words. */
  readonly truth: Term | null;
  /** The four highest bytes if only these are known. */
  readonly selector: bigint | null;
}

const WORD = 256n;
const MASK = (1n << WORD) - 1n;
const SELECTOR_SHIFT = 224n;
const SORTS = { word: '(_ BitVec 256)', truth: 'Bool' } as const;

export const wrapped = (value: bigint): bigint => value & MASK;
export const signed = (value: bigint): bigint => BigInt.asIntN(Number(WORD), value);

/** Builds expressions. Equal subexpressions are shared and defined once. */
export class Terms {
  readonly lines: string[] = [];
  private readonly known = new Map<string, Term>();
  private readonly widths: readonly number[];
  private readonly quotients: { readonly a: Term; readonly b: Term; readonly quotient: Term }[] =
    [];

  /** @param widths the number of bits of each argument. */
  constructor(widths: readonly number[]) {
    this.widths = widths;
  }

  constant(value: bigint): Term {
    const word = wrapped(value);
    return { name: `(_ bv${word} 256)`, sort: 'word', value: word, truth: null, selector: null };
  }

  argument(index: number): Term {
    const width = this.widths[index] ?? Number(WORD);
    const { name } = this.unknown(`a${index}`, width);
    const rest = Number(WORD) - width;
    return this.define('word', rest === 0 ? name : `((_ zero_extend ${rest}) ${name})`);
  }

  private unknown(name: string, width: number): Term {
    return this.once(name, () => {
      this.lines.push(`(declare-const ${name} (_ BitVec ${width}))`);
      return { name, sort: 'word', value: null, truth: null, selector: null };
    });
  }

  /**
   * Returns the first word of the calldata: the function's selector, then the beginning of the
   * first argument.
   */
  beginning(selector: bigint): Term {
    const first = this.argument(0);
    const text = `(concat (_ bv${selector} 32) ((_ extract 255 32) ${first.name}))`;
    return { ...this.define('word', text), selector };
  }

  define(sort: Term['sort'], text: string): Term {
    return this.once(`${sort} ${text}`, () => {
      const name = `t${this.known.size}`;
      this.lines.push(`(define-fun ${name} () ${SORTS[sort]} ${text})`);
      return { name, sort, value: null, truth: null, selector: null };
    });
  }

  private once(key: string, make: () => Term): Term {
    const result = this.known.get(key) ?? make();
    this.known.set(key, result);
    return result;
  }

  /** Returns a word that is 1 if the boolean is true and otherwise 0. */
  wordOf(truth: Term): Term {
    return { ...this.define('word', `(ite ${truth.name} (_ bv1 256) (_ bv0 256))`), truth };
  }

  isNotZero(word: Term): Term {
    return word.truth ?? this.define('truth', `(not (= ${word.name} (_ bv0 256)))`);
  }

  isZero(word: Term): Term {
    if (word.value !== null) return this.constant(word.value === 0n ? 1n : 0n);
    return this.wordOf(this.not(this.isNotZero(word)));
  }

  not(truth: Term): Term {
    return this.define('truth', `(not ${truth.name})`);
  }

  compare(a: Term, b: Term, operator: string, folded: (a: bigint, b: bigint) => boolean): Term {
    if (a.value !== null && b.value !== null) {
      return this.constant(folded(a.value, b.value) ? 1n : 0n);
    }
    return this.wordOf(this.define('truth', `(${operator} ${a.name} ${b.name})`));
  }

  combine(a: Term, b: Term, operator: string, folded: (a: bigint, b: bigint) => bigint): Term {
    if (a.value !== null && b.value !== null) return this.constant(folded(a.value, b.value));
    return this.define('word', `(${operator} ${a.name} ${b.name})`);
  }

  /**
   * Returns a quotient. Solvers cannot handle 256-bit division, so the quotient is an unknown
   * number with two properties: it is the same for the same operands, and at most the dividend. A
   * claim that holds for all such numbers holds for the real quotient; a claim that needs more is
   * reported as broken.
   */
  divide(a: Term, b: Term): Term {
    if (a.value !== null && b.value !== null) {
      return this.constant(b.value === 0n ? 0n : a.value / b.value);
    }
    return this.once(`quotient ${a.name} ${b.name}`, () => {
      const quotient = this.unknown(`q${this.known.size}`, Number(WORD));
      this.lines.push(`(assert (bvule ${quotient.name} ${a.name}))`);
      for (const other of this.quotients) {
        const isSame = `(and (= ${a.name} ${other.a.name}) (= ${b.name} ${other.b.name}))`;
        const same = `(= ${quotient.name} ${other.quotient.name})`;
        this.lines.push(`(assert (=> ${isSame} ${same}))`);
      }
      this.quotients.push({ a, b, quotient });
      return quotient;
    });
  }

  /** Shifts right by `places` bits, filling with zeros. */
  shiftRight(value: Term, places: Term): Term {
    const isKnown = value.selector !== null && places.value === SELECTOR_SHIFT;
    if (isKnown) return this.constant(value.selector ?? 0n);
    return this.combine(value, places, 'bvlshr', (a, b) => (b >= WORD ? 0n : a >> b));
  }

  shiftLeft(value: Term, places: Term): Term {
    return this.combine(value, places, 'bvshl', (a, b) => (b >= WORD ? 0n : wrapped(a << b)));
  }
}
