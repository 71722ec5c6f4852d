import type { Command } from 'commander';
import { usdc } from 'tapline';
import { doctor } from './doctor.ts';
import { events, get, replay, resend } from './events.ts';
import { settingsOfNetwork } from './init.ts';
import { listen } from './listen.ts';
import { mock } from './mock.ts';
import { probe } from './probe-payment.ts';
import { list, post } from './resources.ts';
import type { GlobalOptions, Settings } from './settings.ts';
import { clock, confirm, expire, tap } from './simulate-customer.ts';
import { trigger } from './trigger.ts';
import { whoami } from './whoami.ts';
import { WrongUse } from './wrong-use.ts';

function portOf(given: string): number {
  const port = Number(given);
  if (/^\d+$/.test(given) && port <= 65_535) return port;
  throw new WrongUse(`${given} is not a port.`);
}

/** Accumulates the values of an option that may be repeated. */
function collected(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

type Run = (act: (settings: Settings) => Promise<number>) => Promise<void>;

/** Adds the commands that simulate the customer in test mode. */
export function addPlayCommands(program: Command, run: Run): void {
  program
    .command('trigger')
    .description('causes an event with real objects')
    .argument('<type>', 'payment.succeeded, refund.succeeded, …; or a file: ./scene.json')
    .option('--amount <usdc>', '2.50')
    .option('--order <id>', 'order_id of the intent')
    .option('--description <words>', 'description shown to the customer')
    .option('--metadata <name=value>', 'repeat for more pairs', collected, [])
    .action((type: string, options) => run((settings) => trigger(settings, type, options)));
  program
    .command('tap')
    .description('taps a pass on a terminal')
    .argument('[terminal]', 'tml_…; default: the demo terminal')
    .option('--pass <name>', 'ok, confirm, insufficient_funds, … or nfc_…')
    .option('--intent <id>', 'pi_…; default: the oldest open one')
    .option('--amount <usdc>', '2.50; creates an intent first')
    .action((terminal, options) => run((settings) => tap(settings, terminal, options)));
  program
    .command('confirm')
    .description('approves or rejects in the payer app')
    .argument('<intent>', 'pi_… that waits for its payer')
    .option('--reject', 'the payer rejects')
    .action((id: string, { reject }) => run((settings) => confirm(settings, id, reject === true)));
  program
    .command('expire')
    .description('expires an unpaid intent')
    .argument('<intent>', 'pi_…')
    .action((id: string) => run((settings) => expire(settings, id)));
  program
    .command('probe')
    .description('makes a test payment, as a customer would, for external monitoring')
    .option('--amount <usdc>', 'the amount to pay', '0.01')
    .option('--listen <address>', 'pays repeatedly; [host:]port for Prometheus to scrape')
    .option('--every <seconds>', 'the interval', '60')
    .action(({ amount, ...options }) =>
      run((settings) => {
        // Reads the pass only from the environment, because other users can see command lines.
        const pass = process.env.TAPLINE_PROBE_PASS || null;
        return probe(settings, { ...options, amount: usdc(amount), pass });
      }),
    );
  program
    .command('clock')
    .description('shows or advances the test clock')
    .option('--advance <duration>', '90s, 15m, 2h, 3d')
    .action(({ advance }) => run((settings) => clock(settings, advance)));
}

export function addEventCommands(program: Command, run: Run): void {
  program
    .command('listen')
    .description('shows events as they happen and forwards them, signed')
    .option(
      '--forward-to <url>',
      'your receiver (a number is a local port); may be repeated; payment.*=3000 filters',
      collected,
      [],
    )
    .option(
      '--header <name: value>',
      'extra header for your receivers; may be repeated',
      collected,
      [],
    )
    .option('--events <types>', 'comma-separated types and families: payment.*,refund.failed')
    .option('--print-secret', 'prints the signing secret and exits')
    .option('--after <event>', 'starts after this event')
    .option('--until <type>', 'exits with 0 when this event was delivered')
    .option('--timeout <seconds>', 'exits after this time, with 1 if --until did not occur')
    .action((options) => run((settings) => listen(settings, options)));
  program
    .command('events')
    .description('lists events, newest first')
    .option('--type <type>', 'a type or family')
    .option('--limit <count>', 'at most 100', '20')
    .action((options) => run((settings) => events(settings, options)));
  program
    .command('get')
    .description('shows an object by its id')
    .argument('<id>', 'pi_…, pay_…, re_…, evt_…, … or balance')
    .action((id: string) => run((settings) => get(settings, id)));
  program
    .command('resend')
    .description('sends an event again, to local listeners or to an endpoint')
    .argument('<id>', 'evt_… or wdl_…')
    .option('--endpoint <id>', 'we_…; the network sends it there')
    .action((id: string, { endpoint }) => run((settings) => resend(settings, id, endpoint)));
  program
    .command('replay')
    .description('sends the events of a period again')
    .requiredOption('--since <time>', '1h, 2d, or a time')
    .option('--until <time>', 'default: now')
    .option('--types <types>', 'comma-separated types and families')
    .option('--endpoint <id>', 'we_…; default: the only one')
    .option('--forward-to <url>', 'sends to a local receiver instead')
    .action((options) => run((settings) => replay(settings, options)));
}

export function addResourceCommands(program: Command, run: Run): void {
  program
    .command('list')
    .description('lists the newest objects of a resource')
    .argument('<resource>', 'payment_intents, payments, refunds, terminals, …')
    .argument('[filters...]', 'status=succeeded')
    .option('--limit <count>', 'at most 100', '20')
    .action((resource: string, filters: string[], { limit }) =>
      run((settings) => list(settings, resource, { limit, filters })),
    );
  program
    .command('post')
    .description('sends any POST request once')
    .argument('<path>', 'payment_intents, refunds, payment_intents/pi_…/cancel, …')
    .argument(
      '[fields...]',
      'amount=2500000 metadata.table=7; default terminal: the first active one',
    )
    .option('--idempotency-key <key>', 'reuse it to repeat a request; default: a new one')
    .action((path: string, fields: string[], options) =>
      run((settings) => post(settings, path, { ...options, fields })),
    );
}

/** Adds the commands that diagnose problems. `end` receives their exit code. */
export function addCheckCommands(program: Command, run: Run, end: (code: number) => void): void {
  const ofNetwork = (command: 'init' | 'check', folder: string) =>
    settingsOfNetwork(command, { ...program.opts<GlobalOptions>(), folder }).then(end);
  program
    .command('whoami')
    .description('shows and checks the network, mode and key in use')
    .action(() => run(whoami));
  program
    .command('mock')
    .description('starts a server with scripted faults, for your tests')
    .option('--port <port>', '0 chooses a free port', '4010')
    .option(
      '--script <faults>',
      'cut,409,503,slow:2,replay,…: one per request; later requests succeed',
      '',
    )
    .action((options) => mock(program.opts<GlobalOptions>(), options).then(end));
  program
    .command('init')
    .description('for operators: creates and checks the settings of a network')
    .option('--folder <folder>', 'folder of tapline.env, worker.env and registrar.env', '.')
    .action(({ folder }) => ofNetwork('init', folder));
  program
    .command('doctor')
    .description('checks for common problems')
    .option('--receiver <url>', 'tests your webhook receiver with valid and invalid signatures')
    .option('--secret <secret>', 'its signing secret; default: the one that listen uses')
    .option('--settings <folder>', 'for operators: checks the settings of a network instead')
    .action(({ settings: folder, ...options }) =>
      folder === undefined
        ? run((settings) => doctor(settings, options))
        : ofNetwork('check', folder),
    );
}

export function addAgentCommand(program: Command, run: Run): void {
  program
    .command('mcp')
    .description('lets AI agents request payments over the Model Context Protocol')
    .option(
      '--http [port]',
      'serves streamable HTTP on this machine instead of standard input and output',
    )
    .option('--refund-limit <usdc>', 'limit per refund', '100')
    .option('--session-limit <usdc>', 'limit for all refunds of a session', '300')
    .option('--day-limit <usdc>', 'limit for all refunds of a UTC day', '500')
    .action(async ({ refundLimit, sessionLimit, dayLimit, http }) => {
      const live = program.opts<GlobalOptions>().live === true;
      const refundLimits = {
        each: usdc(refundLimit),
        session: usdc(sessionLimit),
        day: usdc(dayLimit),
      };
      const port = http === undefined ? null : portOf(http === true ? '7340' : http);
      // Loads the module on demand: the MCP SDK is large, and no other command needs it.
      const { serveMcp } = await import('./mcp/server.ts');
      return run((settings) => serveMcp(settings, { live, refundLimits, port }));
    });
}
