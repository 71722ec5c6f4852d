// Verifies a Tapline webhook without the package: node verify.ts <secret> <header> < body
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Returns the event, or null if the message is not from the network or is older than five minutes.
 */
function verifyWebhook(rawBody: Buffer, header: string, secret: string): { type: string } | null {
  const parts = header.split(',').map((part) => part.trim().split('='));
  const [[, timestamp = ''] = [], second] = parts.filter(([name]) => name === 't');
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || second !== undefined || age > 300) return null;
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), rawBody]);
  const expected = Buffer.from(createHmac('sha256', secret).update(signed).digest('hex'));
  const fits = parts.some(([name, value = '']) => {
    const given = Buffer.from(value);
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return fits ? JSON.parse(rawBody.toString()) : null;
}

const [, , secret = '', header = ''] = process.argv;
const event = verifyWebhook(readFileSync(0), header, secret);
if (event === null) process.exit(1);
console.log(event.type);
