import { text } from 'node:stream/consumers';

/** Where people type: the process's own terminal, unless a test plays one. */
export interface Terminal {
  readonly stdin: Pick<NodeJS.ReadStream, 'isTTY' | 'iterator' | 'setRawMode' | 'unshift'> &
    AsyncIterable<unknown>;
  readonly stderr: { write(text: string): unknown };
}

/**
 * One line from the terminal without showing it, or all of a pipe: never an argument. The terminal
 * stays open, because most commands ask something else afterwards.
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
