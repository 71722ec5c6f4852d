/** Races between a tap, an agent token and two wallets for one intent, many times. */
process.env.PAY_RACES ??= '100';
await import('../../src/apis/pay/pay-races.test.ts');
