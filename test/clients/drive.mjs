// Makes the calls that conformance.test.ts sends as lines of JSON, and prints each result as a line.
import { createInterface } from 'node:readline';
import { Tapline } from 'tapline';

for await (const line of createInterface(process.stdin)) {
  const { api_key, base_url, timeout, retries } = JSON.parse(line);
  const options = { baseUrl: base_url, timeout: timeout * 1_000, maxRetries: retries };
  const outcome = await new Tapline(api_key, options).payments.retrieve('pay_1').then(
    ({ id }) => ({ outcome: 'ok', id }),
    () => ({ outcome: 'no_answer' }),
  );
  console.log(JSON.stringify(outcome));
}
