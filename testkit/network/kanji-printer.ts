import assert from 'node:assert/strict';

/** The bytes above ASCII that tests print, from the printers' table 19 (code page 858). */
const TABLE_19: ReadonlyMap<number, string> = new Map([
  ...([0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87].map((byte, at) => {
    return [byte, 'Çüéâäàåç'[at] ?? ''];
  }) as [number, string][]),
  ...([
    [0x8a, 'è'],
    [0x93, 'ô'],
    [0x94, 'ö'],
    [0x96, 'û'],
    [0xa3, 'ú'],
    [0x9a, 'Ü'],
    [0x9b, 'ø'],
    [0x9d, 'Ø'],
    [0xa4, 'ñ'],
    [0xa5, 'Ñ'],
    [0xc6, 'ã'],
    [0xd5, '€'],
    [0xe1, 'ß'],
    [0xff, '\u00a0'],
  ] as const),
]);

const ESC = 0x1b;
const FS = 0x1c;
const GS = 0x1d;

/** Number of parameter bytes of the commands that our tickets use. */
const PARAMETERS: Readonly<Record<string, number>> = {
  ...{ [`${ESC} t`]: 1, [`${ESC} a`]: 1, [`${ESC} d`]: 1, [`${ESC} p`]: 3, [`${ESC} @`]: 0 },
  ...{ [`${FS} &`]: 0, [`${FS} .`]: 0, [`${GS} V`]: 1 },
};

/** What a printer put on the paper: lines of text, and images. */
export interface Paper {
  readonly lines: readonly string[];
  readonly images: number;
  readonly pulses: number;
}

/**
 * A receipt printer as sold cheaply everywhere: turned on and reset, it is in Kanji mode, where a
 * byte above 0x80 is the first half of a Chinese character. It keeps its mode from job to job.
 */
export class KanjiPrinter {
  #isKanji = true;
  #table = 0;
  readonly #chinese = new TextDecoder('gb18030');

  print(job: Uint8Array): Paper {
    const paper = { lines: [] as string[], images: 0, pulses: 0 };
    let line = '';
    for (let at = 0; at < job.length; ) {
      const byte = job[at] ?? 0;
      if (byte === ESC || byte === FS || byte === GS) {
        const { length, kind } = this.#command(job, at);
        if (kind === 'image') paper.images++;
        if (kind === 'pulse') paper.pulses++;
        at += length;
      } else if (byte === 0x0a) {
        paper.lines.push(line);
        line = '';
        at++;
      } else if (byte > 0x80 && this.#isKanji) {
        line += this.#chinese.decode(job.subarray(at, at + 2));
        at += 2;
      } else {
        line += this.#letter(byte);
        at++;
      }
    }
    return line === '' ? paper : { ...paper, lines: [...paper.lines, line] };
  }

  #letter(byte: number): string {
    if (byte >= 0x20 && byte < 0x7f) return String.fromCharCode(byte);
    const letter = this.#table === 19 ? TABLE_19.get(byte) : undefined;
    return letter ?? '\ufffd';
  }

  #command(job: Uint8Array, at: number): { length: number; kind: 'image' | 'pulse' | null } {
    const [start = 0, code = 0] = job.subarray(at, at + 2);
    const letter = String.fromCharCode(code);
    const view = new DataView(job.buffer, job.byteOffset);
    if (start === GS && letter === 'v') {
      const dots = view.getUint16(at + 4, true) * view.getUint16(at + 6, true);
      return { length: 8 + dots, kind: 'image' };
    }
    if (start === GS && letter === '(') {
      return { length: 5 + view.getUint16(at + 3, true), kind: null };
    }
    const parameters = PARAMETERS[`${start} ${letter}`];
    assert.ok(parameters !== undefined, `an unknown command: ${start} ${letter}`);
    if (letter === '@') [this.#isKanji, this.#table] = [true, 0];
    if (start === FS) this.#isKanji = letter === '&';
    if (start === ESC && letter === 't') this.#table = job[at + 2] ?? 0;
    return { length: 2 + parameters, kind: letter === 'p' ? 'pulse' : null };
  }
}
