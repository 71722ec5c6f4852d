import type { Font, Glyph, GlyphRun } from 'fontkit';

/** The parts of a subset that decide which glyph of the font each of its glyphs is. */
interface Subset {
  readonly glyphs: number[];
  readonly mapping: Record<number, number>;
  includeGlyph(glyph: number): number;
}

/** Glyph numbers of a font are below this. The numbers above stand for a glyph with a text. */
const ALIAS = 0x1_0000;

export interface DocumentFont {
  readonly font: Font;
  /** Sets the text that programs read for what is drawn next; `null`: the text that is drawn. */
  setCopied(text: string | null): void;
}

/**
 * Prepares a font for one document. PDFKit stores one text for each glyph, but in Arabic letters
 * share glyphs: the same shape, with dots as other glyphs, is drawn for several letters. Here a
 * glyph has a number for each of its texts, so that programs read the right letters.
 */
export function documentFont(font: Font): DocumentFont {
  let copied: string | null = null;
  const aliases = new Map<string, Glyph>();
  const glyphs = new Map<string, Glyph>();
  const aliasOf = (glyph: Glyph): Glyph => {
    const key = `${glyph.id} ${glyph.advanceWidth} ${glyph.codePoints.join(' ')}`;
    const id = (aliases.size + 1) * ALIAS + glyph.id;
    const alias = aliases.get(key) ?? Object.create(glyph, { id: { value: id } });
    aliases.set(key, alias);
    return alias;
  };
  const own: Font = Object.create(font, {
    // The font itself stores a glyph with the text for which it was needed first.
    getGlyph: {
      value: (id: number, codePoints: readonly number[] = []) => {
        const key = `${id} ${codePoints.join(' ')}`;
        const glyph =
          glyphs.get(key) ??
          Object.create(font.getGlyph(id), { codePoints: { value: codePoints } });
        glyphs.set(key, glyph);
        return glyph;
      },
    },
    layout: {
      value(text: string, features?: readonly string[]): GlyphRun {
        const run: GlyphRun = font.layout.call(own, text, features as never);
        const { advanceWidth } = run;
        const instead = copied === null ? null : codePointsOf(copied);
        const texts =
          instead === null
            ? run.glyphs
            : run.glyphs.map((glyph, at) => {
                const value = at === 0 ? instead : [];
                const width = { value: at === 0 ? advanceWidth : 0 };
                return Object.create(glyph, { codePoints: { value }, advanceWidth: width });
              });
        return Object.create(run, { glyphs: { value: texts.map(aliasOf) } });
      },
    },
    createSubset: {
      value(): Subset {
        const subset = font.createSubset() as unknown as Subset;
        const include = subset.includeGlyph.bind(subset);
        subset.includeGlyph = (id) => {
          if (id < ALIAS) return include(id);
          subset.mapping[id] ??= subset.glyphs.push(id % ALIAS) - 1;
          return subset.mapping[id];
        };
        return subset;
      },
    },
  });
  // Creates a layout of its own, which uses the `getGlyph` above.
  Reflect.get(Object.getPrototypeOf(font), '_layoutEngine', own);
  const setCopied = (text: string | null) => {
    copied = text;
  };
  return { font: own, setCopied };
}

function codePointsOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}
