import { colored, takesColors } from './colors.ts';

/** The output of a command: with `--json` one JSON object per line, otherwise text. */
export interface Output {
  readonly json: boolean;
  /** Writes a result to standard output. */
  show(object: object, words: string): void;
  /** Writes a note to standard error, so that pipes receive only results. */
  note(words: string): void;
}

export function createOutput(json: boolean): Output {
  const paint = takesColors(process.stdout) ? colored : (words: string) => words;
  return {
    json,
    show: (object, words) =>
      process.stdout.write(`${json ? JSON.stringify(object) : paint(words)}\n`),
    note: (words) => void process.stderr.write(`${words}\n`),
  };
}
