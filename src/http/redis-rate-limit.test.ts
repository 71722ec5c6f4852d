import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisRateLimiter, type SharedRateLimiter } from '#http/redis-rate-limit.ts';
import { silentLog } from '#observability/log.ts';

const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
const skip = hasRedis ? false : 'there is no redis-server on this machine';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

async function startRedis(port: number): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const chunk of child.stdout ?? []) {
    if (String(chunk).includes('Ready to accept connections')) break;
  }
  return child;
}

async function stopRedis(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('rate limits shared through Redis', { skip }, () => {
  let port: number;
  let redis: ChildProcess;
  const open: SharedRateLimiter[] = [];

  const node = async (requests: number, seconds: number) => {
    const url = `redis://127.0.0.1:${port}`;
    const limiter = redisRateLimiter({ url, limit: { requests, seconds }, log: silentLog });
    open.push(limiter);
    await sleep(100);
    return limiter;
  };

  before(async () => {
    port = await freePort();
    redis = await startRedis(port);
  });

  after(async () => {
    for (const limiter of open) await limiter.close();
    await stopRedis(redis);
  });

  test('two nodes together allow one quota', async () => {
    const [a, b] = [await node(10, 3600), await node(10, 3600)];
    const taken = await Promise.all(
      Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? a : b).take('one')),
    );
    assert.equal(taken.filter(({ allowed }) => allowed).length, 10);
    const refused = await a.take('one');
    assert.equal(refused.remaining, 0);
    assert.ok(refused.retryAfterSeconds >= 355 && refused.retryAfterSeconds <= 360);
  });

  test('remaining and reset count down and up again', async () => {
    const limiter = await node(4, 1);
    const first = await limiter.take('two');
    assert.deepEqual([first.limit, first.remaining, first.resetSeconds], [4, 3, 1]);
    assert.equal((await limiter.take('two')).remaining, 2);
    await sleep(600);
    assert.equal((await limiter.take('two')).remaining, 3);
  });

  test('after the clock of Redis stepped back by a day, a wait is at most the window', async () => {
    const limiter = await node(4, 60);
    const client = new Redis(port);
    await client.set('tapline:rate:stepped', String(Date.now() + 86_400_000));
    client.disconnect();
    const refused = await limiter.take('stepped');
    assert.deepEqual([refused.allowed, refused.remaining], [false, 0]);
    assert.ok(refused.retryAfterSeconds <= 15, `${refused.retryAfterSeconds} s`);
    assert.ok(refused.resetSeconds <= 60, `${refused.resetSeconds} s`);
  });

  test('without Redis no request waits; once it is back, nodes share quotas again', async () => {
    const [a, b] = [await node(5, 3600), await node(5, 3600)];
    await stopRedis(redis);
    const started = performance.now();
    const alone = await Promise.all([a.take('three'), b.take('three')]);
    assert.ok(performance.now() - started < 100, 'no request waits for an unreachable Redis');
    assert.deepEqual(
      alone.map(({ remaining }) => remaining),
      [4, 4],
    );
    redis = await startRedis(port);
    let isShared = false;
    for (let tries = 0; tries < 50 && !isShared; tries++) {
      await sleep(100);
      await a.take(`back ${tries}`);
      isShared = (await b.take(`back ${tries}`)).remaining === 3;
    }
    assert.ok(isShared, 'the nodes share again within five seconds');
  });

  test('a Redis that hangs costs one short wait, not one per request', async () => {
    const limiter = await node(1000, 1);
    redis.kill('SIGSTOP');
    try {
      const first = performance.now();
      assert.equal((await limiter.take('five')).allowed, true);
      assert.ok(performance.now() - first < 200);
      const rest = performance.now();
      for (let i = 0; i < 100; i++) await limiter.take('five');
      assert.ok(performance.now() - rest < 50);
    } finally {
      redis.kill('SIGCONT');
    }
  });
});
