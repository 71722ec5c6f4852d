import { colored, takesColors } from './colors.ts';

/** Where a command writes: one JSON object per line with `--json`, words for people without. */
export interface Output {
  readonly json: boolean;
  /** A result: on standard output. */
  show(object: object, words: string): void;
  /** What accompanies a result: on standard error, so that pipes get results alone. */
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
