import { BlockList, isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { writeCards } from './cards-command.ts';
import { watchSleep } from './detect-sleep.ts';
import { DeviceApi, DeviceApiError, usdc } from './device-api.ts';
import { type ReaderEvent, watchReaders } from './pcsc/readers.ts';
import { PCSCD_SOCKET } from './pcsc/service.ts';
import { type Printing, printerAt, printReceipt } from './printing/printer.ts';
import type { Wallets } from './protocols/read-tap.ts';
import { runWithoutScreen, type TillEvent } from './reader-without-screen.ts';
import { openTillFeed } from './serve-browser-till.ts';
import {
  defaultFile,
  readPairing,
  readPassType,
  readTill,
  registerFile,
  SettingError,
  savePairing,
  saveTill,
  type Till,
  tillFile,
} from './till-settings.ts';
import { WaitingTaps } from './waiting-taps.ts';
import { REGISTER_TIMEOUT_MS } from './zvt/conversation.ts';
import { isDoubtful, type Scales } from './zvt/price-of-amount.ts';
import {
  type RegisterOptions,
  type RegisterServer,
  serveRegister,
  ZVT_PORT,
} from './zvt/server.ts';

/** The port that the till's page connects to by default. */
export const TILL_PORT = 4244;

/** Only programs on this machine can reach this address. */
const LOOPBACK = '127.0.0.1';

const HELP = `Usage: tapline-reader [options]
       tapline-reader cards write

A USB reader (PC/SC) as a terminal without a screen, or as the reader of a till that runs in a
browser on this machine.

  --till            serve the till in the browser instead of being a terminal
  --server URL      the address of the network
  --pair XXXX-XXXX  pair with the terminal whose code the dashboard shows; with --till, with the
                    till whose settings show this code
  --port N          with --till: the local port that the till connects to [${TILL_PORT}]
  --wallets FILE    the key for Apple Wallet (mode 0600)
  --config FILE     where the pairing is stored
  --socket FILE     the socket of the PC/SC service [${PCSCD_SOCKET}]
  --printer PLACE   print each receipt with ESC/POS: /dev/usb/lp0, or tcp://192.168.1.50:9100
  --width N         characters of its paper: 48 (80 mm) or 32 (58 mm) [48]
  --drawer          also open the cash drawer that is plugged into the printer
  --zvt PORT        serve a cash register with ZVT over TCP (usually ${ZVT_PORT})
  --zvt PORT=FILE   the same for several registers: once for each, with the pairing in FILE
  --zvt-host IP     the address at which the register reaches this machine [${LOOPBACK}]
  --zvt-peers IP,…  the addresses of registers that may connect; required with --zvt-host
  --zvt-password N  six digits that the register must send [any]
  --zvt-scale N,…   decimals of its amounts in JPY, HUF, KWD and the like: 0, 2 or 3; or by
                    currency, such as JPY=0,HUF=2
  --zvt-timeout S   seconds after which the register gives up [${REGISTER_TIMEOUT_MS / 1000}]
  --json            print one event per line, as JSON
  --help

cards write turns a blank NTAG 424 DNA into a card of a wallet, or into the tag of a till. It asks
for the data that the wallet or dashboard shows once, and stores none of it.
`;

const OPTIONS = {
  till: { type: 'boolean' },
  port: { type: 'string' },
  server: { type: 'string' },
  pair: { type: 'string' },
  wallets: { type: 'string' },
  config: { type: 'string' },
  socket: { type: 'string' },
  printer: { type: 'string' },
  width: { type: 'string' },
  drawer: { type: 'boolean' },
  zvt: { type: 'string', multiple: true },
  'zvt-host': { type: 'string' },
  'zvt-peers': { type: 'string' },
  'zvt-password': { type: 'string' },
  'zvt-scale': { type: 'string' },
  'zvt-timeout': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Runs the command. @returns the exit code: 0 success, 1 refused, 2 wrong usage. */
export async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
    });
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    if (positionals.length === 0) return await run(values, env);
    if (positionals.join(' ') === 'cards write') return await runCards(values);
    process.stderr.write(HELP);
    return 2;
  } catch (error) {
    if (error instanceof SettingError || error instanceof DeviceApiError) {
      process.stderr.write(`${error.message}\n`);
      return 1;
    }
    if (error instanceof TypeError && 'code' in error) {
      process.stderr.write(`${error.message}\n${HELP}`);
      return 2;
    }
    throw error;
  }
}

type Values = {
  readonly [name in Exclude<
    keyof typeof OPTIONS,
    'zvt'
  >]?: (typeof OPTIONS)[name]['type'] extends 'string' ? string : boolean;
} & { readonly zvt?: readonly string[] };

async function run(values: Values, env: NodeJS.ProcessEnv): Promise<number> {
  const passType = values.wallets === undefined ? null : await readPassType(values.wallets);
  if (values.till === true && values.zvt !== undefined) {
    throw new SettingError('--zvt cannot be used with --till.');
  }
  if (values.till === true) return serveTill(values, passType, env);
  const counters: Counter[] = [];
  for (const { port, file } of await placesOf(values, env)) {
    const pairing = await readPairing(file);
    if (pairing === null) {
      throw new SettingError(`Not paired: ${file}. Use --server URL --pair XXXX-XXXX.`);
    }
    const api = new DeviceApi(pairing.server, pairing.device_key);
    const register = registerOf(values, { port, file, terminal: pairing.terminal });
    counters.push({ api, register, taps: new WaitingTaps() });
  }
  const end = endOfProcess();
  const { socket, json = false } = values;
  return serve({ counters, passType, end, socket, json, printing: printingOf(values) });
}

/** The file of a pairing, and the port of its register as it was given. */
interface Place {
  readonly port: string | undefined;
  readonly file: string;
}

async function placesOf(values: Values, env: NodeJS.ProcessEnv): Promise<readonly Place[]> {
  const { zvt = [], config, pair: code, server } = values;
  const [first] = zvt;
  if (zvt.length < 2 && !first?.includes('=')) {
    const file = config ?? defaultFile(env);
    if (code !== undefined) await pair(code, server, file);
    return [{ port: first, file }];
  }
  if (config !== undefined || code !== undefined) {
    throw new SettingError('--zvt PORT=FILE cannot be used with --config or --pair.');
  }
  return zvt.map((one) => {
    const [port = '', file = ''] = one.split(/=(.*)/s);
    if (file === '') throw new SettingError('Several registers need --zvt PORT=FILE for each.');
    return { port, file };
  });
}

type Registering = Omit<RegisterOptions, 'api' | 'signal' | 'onRegister' | 'onFault'>;

/** Returns the settings for a cash register, or `null` if this reader serves none. */
function registerOf(
  values: Values,
  { port, file, terminal }: Place & { readonly terminal: string },
): Registering | null {
  const { 'zvt-host': host = LOOPBACK, 'zvt-timeout': timeout } = values;
  const { 'zvt-password': password, 'zvt-peers': peers } = values;
  if (port === undefined) {
    const other = Object.keys(values).find((name) => name.startsWith('zvt-'));
    if (other === undefined) return null;
    throw new SettingError(`--${other} needs --zvt.`);
  }
  if (isIP(host) === 0) throw new SettingError('--zvt-host must be an IP address.');
  if (values['zvt-host'] !== undefined && peers === undefined) {
    throw new SettingError('--zvt-host needs --zvt-peers, the addresses of the registers.');
  }
  if (password !== undefined && !/^\d{6}$/.test(password)) {
    throw new SettingError('--zvt-password must be six digits.');
  }
  const seconds = Number(timeout ?? REGISTER_TIMEOUT_MS / 1000);
  if (!Number.isInteger(seconds) || seconds < 10 || seconds > 900) {
    throw new SettingError('--zvt-timeout must be a number of seconds from 10 to 900.');
  }
  const timeoutMs = seconds * 1000;
  const scales = scalesOf(values['zvt-scale']);
  const may = { peers: peers === undefined ? undefined : peersOf(peers), password, scales };
  const at = { host, port: portOf(port, '--zvt') };
  return { ...at, timeoutMs, file: registerFile(file), terminal, ...may };
}

function scalesOf(list: string | undefined): Scales {
  const scales: Record<string, number> = {};
  for (const one of list?.split(',') ?? []) {
    const [, code = 'all', digits] = /^(?:([A-Za-z]{3})=)?([023])$/.exec(one) ?? [];
    if (digits === undefined || (code !== 'all' && !isDoubtful(code.toLowerCase()))) {
      throw new SettingError(
        `--zvt-scale: "${one}" is not 0, 2 or 3, nor like JPY=0 for a currency in the guide.`,
      );
    }
    scales[code.toLowerCase()] = Number(digits);
  }
  return scales;
}

function peersOf(list: string): BlockList {
  const peers = new BlockList();
  for (const address of list.split(',')) {
    const family = isIP(address);
    if (family === 0 || address.includes('%')) {
      throw new SettingError(`--zvt-peers: "${address}" is not an IP address like 192.168.1.30.`);
    }
    peers.addAddress(address, family === 6 ? 'ipv6' : 'ipv4');
  }
  return peers;
}

/** Returns the printer's settings, or `null` if no printer was named. */
function printingOf({ printer, width = '48', drawer = false }: Values): Printing | null {
  if (printer === undefined) {
    if (drawer) throw new SettingError('--drawer needs --printer.');
    return null;
  }
  if (width !== '48' && width !== '32') throw new SettingError('--width must be 48 or 32.');
  return { printer: printerAt(printer), width: width === '48' ? 48 : 32, drawer };
}

function runCards(values: Values): Promise<number> {
  const say = (event: object, words: string) =>
    process.stdout.write(values.json ? `${JSON.stringify(event)}\n` : `${words}\n`);
  const socket = values.socket ?? PCSCD_SOCKET;
  return writeCards({ socket, input: process.stdin, say, end: endOfProcess() });
}

function endOfProcess(): AbortController {
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());
  return end;
}

/** Matches a pairing code in the format that a till shows. */
const CODE = /^[0-9A-Z]{4}-[0-9A-Z]{4}$/;

function portOf(text: string, option: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1024 && port <= 65_535) return port;
  throw new SettingError(`${option} must be a number from 1024 to 65535.`);
}

async function tillOf(values: Values, file: string): Promise<Till> {
  if (values.pair === undefined) {
    const kept = await readTill(file);
    if (kept !== null) return kept;
    throw new SettingError('Not paired with a till. Use --till --server URL --pair XXXX-XXXX.');
  }
  if (values.server === undefined || !URL.canParse(values.server)) {
    throw new SettingError('Set the URL of the network with --server.');
  }
  const code = values.pair.toUpperCase();
  if (!CODE.test(code)) throw new SettingError('--pair must be a code of the form XXXX-XXXX.');
  return { origin: new URL(values.server).origin, token_hash: null, code };
}

/** Serves the till in the browser until the process is stopped. */
async function serveTill(
  values: Values,
  passType: Wallets['passType'],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const file = values.config ?? tillFile(env);
  const { origin, token_hash: tokenHash, code = null } = await tillOf(values, file);
  const end = endOfProcess();
  const say = (event: object, words: string) =>
    process.stdout.write(values.json ? `${JSON.stringify(event)}\n` : `${words}\n`);
  const feed = await openTillFeed({
    port: portOf(values.port ?? String(TILL_PORT), '--port'),
    origin,
    code,
    tokenHash,
    onPaired: (token_hash) => saveTill(file, { origin, token_hash }),
    onTill: (isThere) => {
      const status = isThere ? 'till' : 'no_till';
      say({ status }, isThere ? 'The till is connected.' : 'Waiting for the till.');
    },
  }).catch(portInUse);
  say({ status: 'waiting', port: feed.port }, `Waiting for the till on port ${feed.port}.`);
  await watchReaders({
    socket: values.socket ?? PCSCD_SOCKET,
    wallets: () => ({ collector: feed.proveCollector, passType }),
    toSign: (publicKey) => feed.toSign(publicKey),
    signal: end.signal,
    onEvent: (event) => {
      feed.tell(event);
      // Logs only the result of a tap. The credential goes to the till and nowhere else.
      if (event.status === 'tapped') say({ status: event.tap.status }, tapWords(event.tap.status));
      else say(event, readerWords(event));
    },
  });
  await feed.close();
  return 0;
}

function portInUse(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EADDRINUSE') throw error;
  throw new SettingError('The port is in use. The reader may already be running.');
}

function tapWords(status: string): string {
  return status === 'read' || status === 'signed'
    ? 'Read.'
    : `Not read: ${status.replaceAll('_', ' ')}.`;
}

function readerWords(event: Exclude<ReaderEvent, { status: 'tapped' }>): string {
  return event.status === 'ready' ? `Reader: ${event.readers.join(', ')}` : 'No reader found.';
}

async function pair(code: string, server: string | undefined, file: string): Promise<void> {
  if (server === undefined) throw new SettingError('Set the URL of the network with --server.');
  const { key, terminal } = await DeviceApi.pair(server, code);
  await savePairing(file, { server, device_key: key, terminal });
}

/** A terminal, with the cash register that uses it. */
interface Counter {
  readonly api: DeviceApi;
  readonly register: Registering | null;
  readonly taps: WaitingTaps;
}

interface Serving {
  readonly counters: readonly Counter[];
  readonly passType: Wallets['passType'];
  readonly end: AbortController;
  readonly socket: string | undefined;
  readonly json: boolean;
  readonly printing: Printing | null;
}

type Say = (event: object & { status: string; port?: number }, words: string) => void;

async function serve({ counters, passType, end, ...serving }: Serving): Promise<number> {
  const { socket, json, printing } = serving;
  // Several terminals share the card reader: the payment that began first gets the taps until it
  // has ended, so that a second tap of its customer never pays for the next one.
  const turns: Counter[] = [];
  const faults: unknown[] = [];
  const say: Say = (event, words) =>
    process.stdout.write(json ? `${JSON.stringify(event)}\n` : `${words}\n`);
  const sayAt = (counter: Counter): Say => {
    const port = counters.length > 1 ? counter.register?.port : undefined;
    if (port === undefined) return say;
    return (event, words) => say({ ...event, port }, `${port}: ${words}`);
  };
  const desks: RegisterServer[] = [];
  let isUnpaired = false;
  try {
    for (const counter of counters) {
      watchSleep(() => counter.api.woke(), end.signal);
      const onFault = (error: unknown) => {
        faults.push(error);
        end.abort();
      };
      const desk = await openDesk(counter, { end, say: sayAt(counter), onFault });
      if (desk !== null) desks.push(desk);
    }
    const readers = watchReaders({
      socket: socket ?? PCSCD_SOCKET,
      wallets: () => ({
        collector: (turns[0] ?? counters[0])?.api.proveCollector ?? null,
        passType,
      }),
      toSign: async (publicKey) => (await turns[0]?.taps.toSign(publicKey)) ?? null,
      signal: end.signal,
      onEvent: (event) => {
        if (event.status === 'tapped') turns[0]?.taps.offer(event.tap);
        else say(event, readerWords(event));
      },
    });
    const running = counters.map(async (counter) => {
      const isPaired = await takePayments(counter, { turns, end, say: sayAt(counter), printing });
      isUnpaired ||= !isPaired;
      end.abort();
    });
    await Promise.all(running);
    await readers;
  } finally {
    end.abort();
    for (const desk of desks) await desk.close();
  }
  if (faults.length > 0) throw faults[0];
  return isUnpaired ? 1 : 0;
}

interface Opening {
  readonly end: AbortController;
  readonly say: Say;
  readonly onFault: (error: unknown) => void;
}

async function openDesk(
  { api, register }: Counter,
  { end, say, onFault }: Opening,
): Promise<RegisterServer | null> {
  if (register === null) return null;
  const desk = await serveRegister({
    ...register,
    api,
    signal: end.signal,
    onRegister: (isConnected) => {
      const status = isConnected ? 'register' : 'no_register';
      say({ status }, isConnected ? 'The register is connected.' : 'No register.');
    },
    onFault,
  }).catch(portInUse);
  const { host } = register;
  const event = { status: 'waiting_for_register', host, port: desk.port };
  say(event, `Waiting for the register on ${host}:${desk.port}.`);
  return desk;
}

interface Taking {
  /** The counters whose payments wait or are in progress, the one that began first in front. */
  readonly turns: Counter[];
  readonly end: AbortController;
  readonly say: Say;
  readonly printing: Printing | null;
}

/** Takes a terminal's payments until the end. @returns false if it is no longer paired. */
async function takePayments(
  counter: Counter,
  { turns, end, say, printing }: Taking,
): Promise<boolean> {
  const { api, taps } = counter;
  let isPaired = true;
  await runWithoutScreen({
    api,
    taps,
    signal: end.signal,
    onEvent: (event) => {
      if (event.status === 'unpaired') isPaired = false;
      if (event.status === 'waiting' && !turns.includes(counter)) turns.push(counter);
      if (event.status === 'idle' && turns.includes(counter)) {
        turns.splice(turns.indexOf(counter), 1);
      }
      say(shown(event), wordsOf(event));
      if (event.status !== 'paid' || printing === null) return;
      api
        .receiptUrl(event.intent.id)
        .then((url) => printReceipt(printing, url))
        // If printing fails, the sale is still paid, and its receipt has a URL.
        .catch((error: Error) => say({ status: 'not_printed' }, `Not printed: ${error.message}.`));
    },
  });
  return isPaired;
}

/**
 * Returns the fields of an event that may be logged: no credentials, and few fields of an intent.
 */
function shown(event: TillEvent) {
  if (!('intent' in event)) return event;
  return { status: event.status, intent: event.intent.id, amount: event.intent.amount };
}

/** The terminal bell is the only sound that every machine has. */
const BELL = '\u0007';

function wordsOf(event: TillEvent): string {
  switch (event.status) {
    case 'idle':
      return 'Ready.';
    case 'waiting':
      return `Tap the card or phone: ${usdc(event.intent.amount)} USDC`;
    case 'read':
      return `${BELL}Read. You can remove it now.`;
    case 'paid':
      return `${BELL}Paid: ${usdc(event.intent.amount)} USDC`;
    case 'confirm':
      return 'Waiting for the customer to confirm.';
    case 'declined':
      return `${BELL}${BELL}Declined. ${event.message}`;
    case 'ended':
      return 'The payment was canceled or has expired.';
    case 'not_read':
      return event.message;
    case 'offline':
      return 'Offline. Retrying.';
    case 'unpaired':
      return 'This reader is no longer paired. Use --pair.';
  }
}
