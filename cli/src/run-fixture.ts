import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TaplineError } from 'tapline';
import { send } from './resources.ts';
import { demoOf, type Settings, someTerminal } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

interface Step {
  /** The step's name. Later steps refer to its response as `${name:field}`. */
  readonly name: string;
  readonly method?: 'get' | 'post';
  /** Path below `/v1`. */
  readonly path: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** For GET: repeats the request until the response has these values. */
  readonly until?: Readonly<Record<string, unknown>>;
}

/** The responses so far, by step name. */
type Known = Record<string, unknown>;

const MOST_STEPS = 100;
const UNTIL_MS = 60_000;
const EVERY_MS = 250;

/** Implements `trigger ./sale.json`: runs a file's steps in order, in test mode. */
export async function runFixture(settings: Settings, file: string): Promise<number> {
  const { out } = settings;
  const steps = readSteps(file);
  const passes = demoOf(settings)?.passes ?? {};
  const known: Known = { tapline: { terminal: await someTerminal(settings), passes } };
  for (const [index, step] of steps.entries()) {
    const label = `${file}, step ${index + 1} (${step.name})`;
    const answer = await answerOf(settings, filled(step, known, label) as Step).catch((error) => {
      throw inPlace(error, label);
    });
    known[step.name] = answer;
    const { id = '', status = '' } = answer as Record<string, string>;
    out.show({ step: step.name, answer }, `${step.name}  ${id}  ${status}`.trimEnd());
  }
  return 0;
}

function readSteps(file: string): readonly Step[] {
  let steps: unknown;
  try {
    steps = (JSON.parse(readFileSync(file, 'utf8')) as { steps?: unknown }).steps;
  } catch (error) {
    throw new WrongUse(`${file} cannot be read as JSON: ${(error as Error).message}.`);
  }
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > MOST_STEPS) {
    throw new WrongUse(`${file} needs a list \`steps\` with 1 to ${MOST_STEPS} requests.`);
  }
  for (const [index, step] of steps.entries()) {
    const why = wrongIn(step);
    if (why !== null) throw new WrongUse(`${file}, step ${index + 1}: ${why}.`);
  }
  return steps;
}

const FIELDS = ['name', 'method', 'path', 'params', 'until'];

/** All steps are checked before the first is sent, so that a typo never stops a run halfway. */
function wrongIn(step: Step): string | null {
  if (typeof step !== 'object' || step === null) return 'it is not an object';
  const strange = Object.keys(step).find((field) => !FIELDS.includes(field));
  if (strange !== undefined) return `unknown field ${strange}; allowed are ${FIELDS.join(', ')}`;
  if (!/^[a-z]\w*$/i.test(step.name) || step.name === 'tapline') return 'its name is not a word';
  if (typeof step.path !== 'string') return 'it has no path';
  if (!['get', 'post', undefined].includes(step.method)) return 'its method must be get or post';
  if (step.until !== undefined && step.method !== 'get') return 'until is allowed for get only';
  return null;
}

/** Replaces every `${name:field.field}` in a value with a field of an earlier response. */
function filled(value: unknown, known: Known, label: string): unknown {
  if (typeof value === 'string') {
    const whole = /^\$\{(\w+):([\w.]+)\}$/.exec(value);
    const find = (name: string, path: string) => answeredValue(known, { name, path, place: label });
    if (whole !== null) return find(whole[1] ?? '', whole[2] ?? '');
    return value.replace(/\$\{(\w+):([\w.]+)\}/g, (_, name, path) => `${find(name, path)}`);
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, known, label));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, filled(one, known, label)]);
  return Object.fromEntries(entries);
}

interface Wanted {
  readonly name: string;
  readonly path: string;
  readonly place: string;
}

function answeredValue(known: Known, { name, path, place }: Wanted): unknown {
  const picked = path
    .split('.')
    .reduce<unknown>((value, field) => (value as Known | null)?.[field], known[name]);
  if (picked !== undefined && picked !== null) return picked;
  throw new WrongUse(`${place}: no earlier step returned \${${name}:${path}}.`);
}

async function answerOf(settings: Settings, step: Step): Promise<object> {
  const { method = 'post', path, params = {}, until } = step;
  if (method === 'post') return send(settings, { path, body: params, key: randomUUID() });
  const deadline = performance.now() + UNTIL_MS;
  for (;;) {
    const answer = await send(settings, { path, query: params });
    const misses = Object.entries(until ?? {}).filter(
      ([name, value]) => (answer as Known)[name] !== value,
    );
    if (misses.length === 0) return answer;
    if (performance.now() > deadline) {
      const [name = '', value] = misses[0] ?? [];
      throw new Error(
        `after 60 s, ${name} is still ${(answer as Known)[name]} instead of ${value}`,
      );
    }
    await sleep(EVERY_MS);
  }
}

/** Adds the position in the file to an error's message, and keeps its code and request id. */
function inPlace(error: unknown, label: string): unknown {
  if (error instanceof WrongUse) return new WrongUse(`${label}: ${error.message}`);
  const { message } = error as Error;
  if (!(error instanceof TaplineError)) return new Error(`${label}: ${message}`, { cause: error });
  const { status, code, requestId } = error;
  return new TaplineError(`${label}: ${message}`, { status, code, requestId, cause: error });
}
