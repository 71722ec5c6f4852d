import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Simulates the network path to a distant node: forwards bytes in order, each after half a
 * round-trip time. Runs as a child process, so that its timers cost the service nothing. Its
 * arguments are the target port and the round-trip time in milliseconds; it reports its own port.
 */
export interface FarNode {
  readonly port: number;
  readonly roundTripMs: number;
}

function passOn(from: Socket, to: Socket, delayMs: number): void {
  // Timers with equal delays fire in the order in which they were started, so the bytes stay in
  // order.
  from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy());
  from.on('close', () => setTimeout(() => to.destroy(), delayMs));
}

process.on('message', ({ port, roundTripMs }: FarNode) => {
  const server = createServer((client) => {
    const node = connect(port, '127.0.0.1').setNoDelay(true);
    client.setNoDelay(true);
    passOn(client, node, roundTripMs / 2);
    passOn(node, client, roundTripMs / 2);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
process.on('disconnect', () => process.exit());
