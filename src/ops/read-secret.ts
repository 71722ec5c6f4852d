import { text } from 'node:stream/consumers';

/** The process's own terminal, or a test's. */
export interface Terminal {
  readonly stdin: Pick<NodeJS.ReadStream, 'isTTY' | 'iterator' | 'setRawMode' | 'unshift'> &
    AsyncIterable<unknown>;
  readonly stderr: { write(text: string): unknown };
}

/**
 * Reads one line from the terminal without echo, or everything from a pipe, but never an argument.
 * The terminal stays open, because most commands ask more questions.
 */
export async function readSecret(prompt: string, terminal: Terminal = process): Promise<string> {
  const { stdin, stderr } = terminal;
  if (!stdin.isTTY) return (await text(stdin)).replace(/\r?\n$/, '');
  stderr.write(`${prompt}: `);
  stdin.setRawMode(true);
  let typed = '';
  try {
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      const keys = [...String(chunk)];
      for (const [index, key] of keys.entries()) {
        if (key === '\r' || key === '\n') {
          const rest = keys.slice(index + 1).join('');
          if (rest !== '') stdin.unshift(Buffer.from(rest));
          return typed;
        }
        if (key === '\u0003') process.exit(130);
        typed = key === '\u007f' ? typed.slice(0, -1) : typed + key;
      }
    }
    return typed;
  } finally {
    stdin.setRawMode(false);
    stderr.write('\n');
  }
}
