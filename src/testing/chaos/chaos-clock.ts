// Sets this process's clock off by CHAOS_CLOCK_MS, like a machine that has lost its time server.
// Loaded before the process's own code (`node --import`). Timers and `performance.now()` are
// unaffected, as on a real machine.
const wrongByMs = Number(process.env.CHAOS_CLOCK_MS ?? '0');
const rightNow = Date.now.bind(Date);

globalThis.Date = new Proxy(Date, {
  construct(target, values, asked) {
    const given = values.length === 0 ? [rightNow() + wrongByMs] : values;
    return Reflect.construct(target, given, asked) as object;
  },
  apply: () => new Date(rightNow() + wrongByMs).toString(),
  get(target, name, receiver) {
    if (name === 'now') return () => rightNow() + wrongByMs;
    return Reflect.get(target, name, receiver);
  },
});
