import type { Command } from 'commander';
import { usdc } from 'tapline';
import { doctor } from './doctor.ts';
import { events, get, replay, resend } from './events.ts';
import { settingsOfNetwork } from './init.ts';
import { listen } from './listen.ts';
import { mock } from './mock.ts';
import { clock, confirm, expire, tap } from './play.ts';
import { probe } from './probe.ts';
import { list, post } from './resources.ts';
import type { GlobalOptions, Settings } from './settings.ts';
import { trigger } from './trigger.ts';
import { whoami } from './whoami.ts';
import { WrongUse } from './wrong-use.ts';

function portOf(given: string): number {
  const port = Number(given);
  if (/^\d+$/.test(given) && port <= 65_535) return port;
  throw new WrongUse(`${given} is no port.`);
}

/** Collects an option that may be repeated. */
function collected(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

type Run = (act: (settings: Settings) => Promise<number>) => Promise<void>;

/** Commands that simulate the customer, in test mode. */
export function addPlayCommands(program: Command, run: Run): void {
  program
    .command('trigger')
    .description('makes an event happen, with real objects')
    .argument('<type>', 'payment.succeeded, refund.succeeded, …; or a file: ./scene.json')
    .option('--amount <usdc>', '2.50')
    .option('--order <id>', 'the order_id of the intent')
    .option('--description <words>', 'what the customer reads')
    .option('--metadata <name=value>', 'again for each pair', collected, [])
    .action((type: string, options) => run((settings) => trigger(settings, type, options)));
  program
    .command('tap')
    .description('taps a pass on a terminal')
    .argument('[terminal]', 'tml_…; default: the demo terminal')
    .option('--pass <name>', 'ok, confirm, insufficient_funds, … or nfc_…')
    .option('--intent <id>', 'pi_…; default: the oldest that is open')
    .option('--amount <usdc>', '2.50: creates an intent first')
    .action((terminal, options) => run((settings) => tap(settings, terminal, options)));
  program
    .command('confirm')
    .description('answers in the payer app')
    .argument('<intent>', 'pi_… that waits for the payer')
    .option('--reject', 'the payer says no')
    .action((id: string, { reject }) => run((settings) => confirm(settings, id, reject === true)));
  program
    .command('expire')
    .description('ends the time of an unpaid intent')
    .argument('<intent>', 'pi_…')
    .action((id: string) => run((settings) => expire(settings, id)));
  program
    .command('probe')
    .description('buys in test mode, as a customer would: for monitoring from outside')
    .option('--amount <usdc>', 'what to pay', '0.01')
    .option('--listen <address>', 'buys again and again; [host:]port where Prometheus reads')
    .option('--every <seconds>', 'how often', '60')
    .action(({ amount, ...options }) =>
      run((settings) => {
        // A secret, so it comes from the environment like keys, never from the command line.
        const pass = process.env.TAPLINE_PROBE_PASS || null;
        return probe(settings, { ...options, amount: usdc(amount), pass });
      }),
    );
  program
    .command('clock')
    .description('the test clock')
    .option('--advance <duration>', '90s, 15m, 2h, 3d')
    .action(({ advance }) => run((settings) => clock(settings, advance)));
}

/** Commands about events and other objects. */
export function addEventCommands(program: Command, run: Run): void {
  program
    .command('listen')
    .description('shows events as they happen, and forwards them signed')
    .option(
      '--forward-to <url>',
      'your receiver; a number is a port on this machine; again for each, payment.*=3000 for some',
      collected,
      [],
    )
    .option('--header <name: value>', 'sent to receivers too; again for each', collected, [])
    .option('--events <types>', 'types and families by comma: payment.*,refund.failed')
    .option('--print-secret', 'prints the signing secret and ends')
    .option('--after <event>', 'begins behind this event')
    .option('--until <type>', 'ends with 0 when it has come and was delivered')
    .option('--timeout <seconds>', 'ends then; with 1 if --until has not come')
    .action((options) => run((settings) => listen(settings, options)));
  program
    .command('events')
    .description('what happened, newest first')
    .option('--type <type>', 'a type or family')
    .option('--limit <count>', 'at most 100', '20')
    .action((options) => run((settings) => events(settings, options)));
  program
    .command('get')
    .description('an object by its id')
    .argument('<id>', 'pi_…, pay_…, re_…, evt_…, … or balance')
    .action((id: string) => run((settings) => get(settings, id)));
  program
    .command('resend')
    .description('sends an event again: to listeners here, or to an endpoint')
    .argument('<id>', 'evt_… or wdl_…')
    .option('--endpoint <id>', 'we_…: the network sends it there')
    .action((id: string, { endpoint }) => run((settings) => resend(settings, id, endpoint)));
  program
    .command('replay')
    .description('sends the events of a span of time again')
    .requiredOption('--since <time>', '1h, 2d, or a time')
    .option('--until <time>', 'default: now')
    .option('--types <types>', 'types and families by comma')
    .option('--endpoint <id>', 'we_…; default: the only one')
    .option('--forward-to <url>', 'a receiver on this machine instead')
    .action((options) => run((settings) => replay(settings, options)));
}

/** Commands for every resource. */
export function addResourceCommands(program: Command, run: Run): void {
  program
    .command('list')
    .description('the newest of a resource')
    .argument('<resource>', 'payment_intents, payments, refunds, terminals, …')
    .argument('[filters...]', 'status=succeeded')
    .option('--limit <count>', 'at most 100', '20')
    .action((resource: string, filters: string[], { limit }) =>
      run((settings) => list(settings, resource, { limit, filters })),
    );
  program
    .command('post')
    .description('any POST of the API, once')
    .argument('<path>', 'payment_intents, refunds, payment_intents/pi_…/cancel, …')
    .argument('[fields...]', 'amount=2500000 metadata.table=7; without terminal=tml_… the first')
    .option('--idempotency-key <key>', 'the same for the same wish; default: a new one')
    .action((path: string, fields: string[], options) =>
      run((settings) => post(settings, path, { ...options, fields })),
    );
}

/** Commands that diagnose problems. `end` receives the exit code. */
export function addCheckCommands(program: Command, run: Run, end: (code: number) => void): void {
  const ofNetwork = (command: 'init' | 'check', folder: string) =>
    settingsOfNetwork(command, { ...program.opts<GlobalOptions>(), folder }).then(end);
  program
    .command('whoami')
    .description('which network, mode and key are used, and whether they work')
    .action(() => run(whoami));
  program
    .command('mock')
    .description('a server with faults by script, for your tests')
    .option('--port <port>', '0 takes a free one', '4010')
    .option(
      '--script <faults>',
      'cut,409,503,slow:2,replay,…: one per request, then all is well',
      '',
    )
    .action((options) => mock(program.opts<GlobalOptions>(), options).then(end));
  program
    .command('init')
    .description('for operators: makes the settings of a network, and checks all that it needs')
    .option('--folder <folder>', 'where tapline.env, worker.env and registrar.env are', '.')
    .action(({ folder }) => ofNetwork('init', folder));
  program
    .command('doctor')
    .description('looks at what usually is in the way')
    .option('--receiver <url>', 'your webhook receiver: takes what is signed, refuses what is not')
    .option('--secret <secret>', 'its signing secret, if it differs from the one that listen uses')
    .option('--settings <folder>', 'for operators: at the settings of a network instead')
    .action(({ settings: folder, ...options }) =>
      folder === undefined
        ? run((settings) => doctor(settings, options))
        : ofNetwork('check', folder),
    );
}

/** Tools for AI agents. */
export function addAgentCommand(program: Command, run: Run): void {
  program
    .command('mcp')
    .description('serves payments to AI agents over the Model Context Protocol')
    .option('--http [port]', 'streamable HTTP on this machine, not standard input and output')
    .option('--refund-limit <usdc>', 'the most that one refund may be', '100')
    .option('--session-limit <usdc>', 'the most that refunds of a session may be', '300')
    .option('--day-limit <usdc>', 'the most that refunds of a UTC day may be', '500')
    .action(async ({ refundLimit, sessionLimit, dayLimit, http }) => {
      const live = program.opts<GlobalOptions>().live === true;
      const refundLimits = {
        each: usdc(refundLimit),
        session: usdc(sessionLimit),
        day: usdc(dayLimit),
      };
      const port = http === undefined ? null : portOf(http === true ? '7340' : http);
      // Loaded on demand, because the MCP SDK is large and other commands do not need it.
      const { serveMcp } = await import('./mcp/server.ts');
      return run((settings) => serveMcp(settings, { live, refundLimits, port }));
    });
}
