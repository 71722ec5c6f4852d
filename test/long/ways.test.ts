/** Tests every way to pay under every fault, including each step of a recovery. */
process.env.WAYS = 'long';
await import('../faults/ways.slow.test.ts');
