// Shifts this process's clock by the milliseconds in the file CHAOS_CLOCK_FILE, as on a machine
// that has lost its time server. A change of the file makes the clock step. Load this before the
// service's code, with `node --import`. Timers and `performance.now()` stay right, as on a real
// machine.
import { readFileSync } from 'node:fs';

const file = process.env.CHAOS_CLOCK_FILE ?? '';
const READ_EVERY_MS = 100;
let wrongByMs = 0;
function readError(): void {
  wrongByMs = Number(readFileSync(file, 'utf8'));
}
readError();
setInterval(readError, READ_EVERY_MS).unref();
const rightNow = Date.now.bind(Date);

globalThis.Date = new Proxy(Date, {
  construct(target, values, request) {
    const given = values.length === 0 ? [rightNow() + wrongByMs] : values;
    return Reflect.construct(target, given, request) as object;
  },
  apply: () => new Date(rightNow() + wrongByMs).toString(),
  get(target, name, receiver) {
    if (name === 'now') return () => rightNow() + wrongByMs;
    return Reflect.get(target, name, receiver);
  },
});
