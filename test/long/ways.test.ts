/** Every way of paying under every fault, each step of a recovery included. */
process.env.WAYS = 'long';
await import('../faults/ways.test.ts');
