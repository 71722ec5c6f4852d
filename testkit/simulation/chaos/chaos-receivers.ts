import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '#testkit/fixtures/core/random.ts';
import { type Answerer, startReceiver } from '#testkit/network/webhook-receiver.ts';

/** A merchant's webhook server that misbehaves. */
export type ChaosReceiver = Awaited<ReturnType<typeof startChaosReceiver>>;

export const TEMPERS = ['good', 'failing', 'slow', 'cutting'] as const;
export type Temper = (typeof TEMPERS)[number];

/** Longer than the 10 s that a receiver has to respond. */
const TOO_SLOW_MS = 12_000;

function misbehave(temper: Temper, random: Random): Answerer {
  switch (temper) {
    case 'good':
      return (_received, response) => void response.end('ok');
    case 'failing':
      return (_received, response) => {
        response.statusCode = random.chance(50) ? 500 : 200;
        response.end('perhaps');
      };
    case 'slow':
      return async (_received, response) => {
        await sleep(random.chance(5) ? TOO_SLOW_MS : random.between(0, 300), null, { ref: false });
        response.end('late');
      };
    case 'cutting':
      return (_received, response) => {
        if (random.chance(70)) response.end('ok');
        else response.destroy();
      };
  }
}

export async function startChaosReceiver(temper: Temper, random: Random) {
  const receiver = await startReceiver();
  const accepted = new Set<string>();
  let answer = misbehave(temper, random);
  receiver.answer(async (received, response) => {
    response.on('finish', () => {
      if (response.statusCode < 300) accepted.add(String(received.headers['service-event-id']));
    });
    await answer(received, response);
  });
  return {
    url: receiver.url,
    /** Ids of the events that the server acknowledged with a 2xx status. */
    accepted,
    /** Makes the server acknowledge every event from now on. */
    heal: () => {
      answer = misbehave('good', random);
    },
    close: receiver.close,
  };
}
