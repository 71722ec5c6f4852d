import { text } from 'node:stream/consumers';

/** One line from the terminal without showing it, or all of a pipe: never an argument. */
export async function readSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return (await text(stdin)).replace(/\r?\n$/, '');
  stderr.write(`${prompt}: `);
  stdin.setRawMode(true);
  let typed = '';
  for await (const chunk of stdin) {
    for (const key of String(chunk)) {
      if (key === '\r' || key === '\n') {
        stdin.setRawMode(false);
        stderr.write('\n');
        return typed;
      }
      if (key === '\u0003') process.exit(130);
      typed = key === '\u007f' ? typed.slice(0, -1) : typed + key;
    }
  }
  return typed;
}
