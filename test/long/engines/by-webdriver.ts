import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { freePort } from '../../../web/testing/free-port.ts';
import { type Engine, type Hands, labelOf, TIMEOUT_MS, until } from './hands.ts';

/** WebKit, Safari's engine, as Debian builds it, through its own WebDriver on a virtual screen. */
const DRIVER = process.env.ENGINES_WEBKIT ?? '/usr/bin/WebKitWebDriver';
const SCREEN = '/usr/bin/xvfb-run';
const WINDOW = { width: 1280, height: 900 };
/** Wider than any journey's window. */
const SCREEN_SIZE = '-screen 0 1600x1024x24';

/** The toolbar of the driver's browser keeps its window wider than a phone. */
const LEAST_WIDTH = 600;

/** WebDriver's key for an element reference. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
type Found = Readonly<Record<string, string>> | null;

/**
 * JavaScript that returns the element's position once it no longer moves, otherwise null. While
 * content above still loads, a click would hit the old position.
 */
const AT_REST = `
  const at = (found) => {
    found?.scrollIntoView({ block: 'center', behavior: 'instant' });
    const place = found?.getBoundingClientRect().toJSON() ?? null;
    const [seen, since] = [JSON.stringify(place), Date.now()];
    if (place !== null && found.seenAt?.seen !== seen) found.seenAt = { seen, since };
    return place === null || since - found.seenAt.since < 300 ? null : place;
  };`;

/** JavaScript that finds the visible control with this role and name that no dialog covers. */
const CONTROL = `${AT_REST}
  const [role, source, flags] = arguments;
  const name = new RegExp(source, flags);
  const tags = {
    button: 'button:not([role]), [role=button]',
    link: 'a[href]',
    radio: 'input[type=radio]',
    switch: '[role=switch]',
  }[role];
  const root = document.querySelector('dialog[open]') ?? document;
  const named = (one) => one.getAttribute('aria-label') ?? (one.labels?.[0] ?? one).textContent;
  const words = (one) => named(one).replace(/\\s+/g, ' ');
  const found = [...root.querySelectorAll(tags)].find(
    (one) => one.getClientRects().length > 0 && name.test(words(one).trim()));
  return at(found) === null ? null : found;`;

const FIELD = `
  const wanted = new RegExp(arguments[0]);
  const root = document.querySelector('dialog[open]') ?? document;
  const label = [...root.querySelectorAll('label')].find(
    (one) => wanted.test(one.textContent.replace(/\\s+/g, ' ').trim()));
  const found = label?.control ?? [...root.querySelectorAll('[aria-label]')].find(
    (one) => wanted.test(one.getAttribute('aria-label')));
  found?.scrollIntoView({ block: 'center' });
  return found ?? null;`;

/**
 * JavaScript that empties a field as a user does, so that the page notices. WebDriver's own `clear`
 * goes through the setter that React watches: React sees no change, and its next rendering puts the
 * old text back.
 */
const EMPTY = `
  const [field] = arguments;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, '');
  field.dispatchEvent(new Event('input', { bubbles: true }));`;

const CHOOSE = `
  const [list, wanted] = arguments;
  const option = [...list.options].find((one) => one.textContent.trim() === wanted);
  if (option === undefined) return false;
  list.value = option.value;
  list.dispatchEvent(new Event('change', { bubbles: true }));
  return true;`;

/**
 * JavaScript that returns the coordinates of an element's middle, because WebKit's driver does not
 * accept a table cell as clickable.
 */
const MIDDLE = `${AT_REST}
  const { x, y, width, height } = at(document.querySelector(arguments[0])) ?? {};
  if (x === undefined) return null;
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };`;

interface Place {
  readonly x: number;
  readonly y: number;
}

type Send = <T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<T>;

interface Failure {
  readonly error?: string;
  readonly message?: string;
}

function senderTo(root: string): Send {
  return async <T>(method: string, path: string, body: object = {}) => {
    const response = await fetch(`${root}${path}`, {
      method,
      ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
      // The driver never answers if its browser ends while it starts.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { value } = (await response.json()) as { value: T & Failure };
    if (!response.ok) throw new Error(`${path}: ${value.error} ${value.message}`);
    return value;
  };
}

function handsIn(send: Send, session: string): Hands {
  const root = `/session/${session}`;
  const run = <T>(script: string, ...args: readonly unknown[]) =>
    send<T>('POST', `${root}/execute/sync`, { script, args });
  const find = async (what: string, script: string, ...args: readonly unknown[]) =>
    until(what, () => run<Found>(script, ...args));
  const clickIn = async (origin: object | string, { x, y }: Place) => {
    const moved = { type: 'pointerMove', duration: 0, origin, x, y };
    const pressed = ['pointerDown', 'pointerUp'].map((type) => ({ type, button: 0 }));
    const mouse = { type: 'pointer', id: 'mouse', actions: [moved, ...pressed] };
    await send('POST', `${root}/actions`, { actions: [mouse] });
  };
  const click = (element: Found) =>
    clickIn({ [ELEMENT]: element?.[ELEMENT] ?? '' }, { x: 0, y: 0 });
  return {
    goto: (url) => send('POST', `${root}/url`, { url }),
    // Not supported, because the environment of the driver's process determines the locale.
    useLocale: async () => false,
    resize: async (width) => {
      if (width < LEAST_WIDTH) return false;
      await send('POST', `${root}/window/rect`, { ...WINDOW, width });
      const isSet = async () => ((await run<number>('return innerWidth')) === width ? true : null);
      return until(`${width} px`, isSet);
    },
    click: async (role, name) => {
      await click(await find(`${role} ${name}`, CONTROL, role, name.source, name.flags));
    },
    clickAt: async (selector) => {
      await clickIn('viewport', await until(selector, () => run<Place | null>(MIDDLE, selector)));
    },
    fill: async (label, text) => {
      const field = (await find(label, FIELD, labelOf(label).source))?.[ELEMENT];
      await run(EMPTY, { [ELEMENT]: field });
      await send('POST', `${root}/element/${field}/value`, { text });
    },
    choose: async (label, option) => {
      const list = await find(label, FIELD, labelOf(label).source);
      await until(`${option} in ${label}`, async () =>
        (await run<boolean>(CHOOSE, list, option)) ? true : null,
      );
    },
    followNewWindow: async () => {
      const own = await send<string>('GET', `${root}/window`);
      const handle = await until('a second window', async () => {
        const handles = await send<string[]>('GET', `${root}/window/handles`);
        return handles.find((one) => one !== own) ?? null;
      });
      await send('POST', `${root}/window`, { handle });
    },
    sees: async (text) => {
      await until(String(text), async () => {
        const shown = await run<string>('return document.body.innerText');
        return text.test(shown.replaceAll(/\s+/g, ' ')) ? true : null;
      });
    },
    evaluate: (expression) => run(`return (${expression})`),
    picture: () => send('GET', `${root}/screenshot`),
    close: () => send('DELETE', root),
  };
}

export function webkitEngine(): Engine {
  const absent = [DRIVER, SCREEN].find((file) => !existsSync(file));
  const needs = 'Debian: webkit2gtk-driver, xvfb';
  let driver: ChildProcess | null = null;
  let send: Send | null = null;
  const start = async (): Promise<Send> => {
    const port = await freePort();
    // Runs in its own process group, because xvfb-run leaves its screen behind if it is killed
    // alone.
    driver = spawn(
      SCREEN,
      ['-a', '-s', SCREEN_SIZE, DRIVER, `--port=${port}`, '--host=127.0.0.1'],
      {
        stdio: 'ignore',
        detached: true,
      },
    );
    await until('WebKitWebDriver', () =>
      fetch(`http://127.0.0.1:${port}/status`).then(
        ({ ok }) => (ok ? true : null),
        () => null,
      ),
    );
    return senderTo(`http://127.0.0.1:${port}`);
  };
  return {
    name: 'WebKit',
    missing: absent === undefined ? null : `${absent} is missing (${needs})`,
    open: async () => {
      send ??= await start();
      const capabilities = { alwaysMatch: { acceptInsecureCerts: true } };
      const { sessionId } = await send<{ sessionId: string }>('POST', '/session', { capabilities });
      await send('POST', `/session/${sessionId}/window/rect`, WINDOW);
      return handsIn(send, sessionId);
    },
    close: async () => {
      if (driver?.pid !== undefined) process.kill(-driver.pid);
    },
  };
}
