import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Simulates the network path to a distant node: passes bytes on in order, each half a round trip
 * later. Runs as a child process, so that its waiting costs the service nothing. Receives the port
 * to reach and the round trip in milliseconds, and returns its own port.
 */
export interface FarNode {
  readonly port: number;
  readonly roundTripMs: number;
}

function passOn(from: Socket, to: Socket, delayMs: number): void {
  // Timers of the same length end in the order in which they started, so the bytes stay in order.
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
