import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { TaplineError, UsageError } from 'tapline';
import { inRed, takesColors } from './colors.ts';
import {
  addAgentCommand,
  addCheckCommands,
  addEventCommands,
  addPlayCommands,
  addResourceCommands,
} from './commands.ts';
import { completion } from './completion.ts';
import { login, logout } from './login.ts';
import { logs } from './logs.ts';
import { createOutput } from './output.ts';
import { type GlobalOptions, readSettings, type Settings } from './settings.ts';
import { verifyMessage } from './verify.ts';
import { WrongUse } from './wrong-use.ts';

/** Exit codes: 0 for success, 1 for a refusal or an unexpected result, 2 for incorrect usage. */
const DONE = 0;
const REFUSED = 1;
const WRONG_USE = 2;

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function createProgram(end: (code: number) => void): Command {
  const program = new Command('tapline')
    .description('The command line of a Tapline payment network.')
    .version(version())
    .option('--json', 'one JSON object per line')
    .option('--api-key <key>', 'a secret key (or TAPLINE_API_KEY)')
    .option('--base-url <url>', 'URL of the API, ending with /api (or TAPLINE_BASE_URL)')
    .option('--live', 'live mode: real money')
    .option('--profile <name>', 'one of several logins (or TAPLINE_PROFILE)')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', '\nExit codes: 0 success, 1 refused or a check failed, 2 wrong usage.');
  const globals = () => program.opts<GlobalOptions>();
  const run = (act: (settings: Settings) => Promise<number>) =>
    act(readSettings(globals())).then(end);
  addPlayCommands(program, run);
  addEventCommands(program, run);
  addResourceCommands(program, run);
  addAgentCommand(program, run);
  program
    .command('logs')
    .description('shows requests and their responses')
    .argument('[tail]', 'tail: keep following new requests', (word: string) => {
      if (word !== 'tail') throw new WrongUse('Use `tapline logs` or `tapline logs tail`.');
      return word;
    })
    .option('--status <status>', '404, or a class: 4xx')
    .option('--method <method>', 'GET, POST, …')
    .option('--limit <count>', 'how many to show first', '20')
    .option('--email <email>', 'email of a dashboard user; the password is TAPLINE_PASSWORD')
    .option('--account <id>', 'acct_…, if the user has several')
    .action((tail, options) => run((s) => logs(s, { ...options, follow: tail === 'tail' })));
  addCheckCommands(program, run, end);
  program
    .command('verify')
    .description('checks the signature of a saved webhook')
    .requiredOption('--signature <header>', 'the Service-Signature header')
    .option(
      '--secret <secret>',
      'whsec_… (or TAPLINE_WEBHOOK_SECRET; default: the one that listen uses)',
    )
    .option('--body <file>', 'the raw body; - reads standard input', '-')
    .option('--tolerance <seconds>', 'maximum age in seconds', '300')
    .action((options) => verifyMessage(options, globals()).then(end));
  program
    .command('login')
    .description('saves the URL of a network and a key for it')
    .action(() => login(globals()));
  program
    .command('logout')
    .description('removes the saved URL and key')
    .action(() => logout(globals()));
  program
    .command('completion')
    .description('prints a completion script for your shell')
    .argument('<shell>', 'bash, zsh, fish or powershell')
    .action((shell: string) => void process.stdout.write(`${completion(program, shell)}\n`));
  return program;
}

export async function main(argv: readonly string[]): Promise<number> {
  let code = DONE;
  const program = createProgram((ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...argv]);
    return code;
  } catch (error) {
    // Commander has already printed the error. Showing its help counts as success.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USE;
    report(error, argv.includes('--json'));
    return error instanceof WrongUse || error instanceof UsageError ? WRONG_USE : REFUSED;
  }
}

function report(error: unknown, json: boolean): void {
  const { message } = error as Error;
  const { code, status, requestId } = error instanceof TaplineError ? error : ({} as TaplineError);
  const out = createOutput(json);
  if (json) out.show({ error: { message, code, status, request_id: requestId } }, message);
  else out.note(inErrorColor(code == null ? message : `${message} (${code})`));
}

function inErrorColor(words: string): string {
  return takesColors(process.stderr) ? inRed(words) : words;
}
