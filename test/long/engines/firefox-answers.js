#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';

/**
 * Starts the system's Firefox for Playwright, which controls it through WebDriver BiDi, and answers
 * commands that this Firefox version lacks and no journey needs. Everything else is forwarded.
 */
const NOT_KNOWN = /^emulation\.set(?!Timezone|Locale)/;

const firefox = spawn(process.env.ENGINES_FIREFOX ?? 'firefox-esr', process.argv.slice(2), {
  stdio: ['ignore', 'inherit', 'pipe'],
});
const stop = () => firefox.kill();
process.once('SIGTERM', stop).once('SIGINT', stop);
firefox.once('exit', (code) => process.exit(code ?? 0));

/** @param {string} endpoint Where Firefox listens. @returns {Promise<string>} */
function relayTo(endpoint) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (playwright, { url }) => {
    const browser = new WebSocket(endpoint + url);
    const early = [];
    browser.on('open', () => {
      for (const text of early.splice(0)) browser.send(text);
    });
    playwright.on('message', (data) => {
      const text = data.toString();
      const { id, method } = JSON.parse(text);
      if (NOT_KNOWN.test(method)) {
        playwright.send(JSON.stringify({ type: 'success', id, result: {} }));
      } else if (browser.readyState === WebSocket.OPEN) browser.send(text);
      else early.push(text);
    });
    browser.on('message', (data) => playwright.send(data.toString()));
    browser.on('close', () => playwright.close());
    playwright.on('close', () => browser.close());
  });
  return new Promise((resolve) => {
    server.once('listening', () => resolve(`ws://127.0.0.1:${server.address().port}`));
  });
}

for await (const line of createInterface({ input: firefox.stderr })) {
  const [, endpoint] = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line) ?? [];
  if (endpoint === undefined) console.error(line);
  else console.error(`WebDriver BiDi listening on ${await relayTo(endpoint)}`);
}
