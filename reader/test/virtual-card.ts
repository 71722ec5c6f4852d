import { connect, type Socket } from 'node:net';
import type { Transceive } from '../src/protocols/apdu.ts';

/** A card in the virtual reader of vsmartcard (vpcd). An emulated card answers for it. */
export interface VirtualCard {
  remove(): void;
}

const POWER_OFF = 0;
const POWER_ON = 1;
const RESET = 2;
const ASK_ATR = 4;
/** The ATR that readers report for a contactless card without historical bytes. */
const ATR = Buffer.from('3b80800101', 'hex');

export async function insertCard(port: number, card: Transceive): Promise<VirtualCard> {
  const socket = connect({ host: '127.0.0.1', port });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = Buffer.alloc(0);
  let turn: Promise<void> = Promise.resolve();
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) {
      const message = received.subarray(2, 2 + received.readUInt16BE());
      received = received.subarray(2 + message.length);
      turn = turn.then(() => answer(socket, message, card));
    }
  });
  return { remove: () => socket.destroy() };
}

async function answer(socket: Socket, message: Buffer, card: Transceive): Promise<void> {
  if (message.length === 1 && message[0] === ASK_ATR) return write(socket, ATR);
  if (message.length === 1 && [POWER_OFF, POWER_ON, RESET].includes(message[0] ?? -1)) return;
  write(socket, Buffer.from(await card(message)));
}

function write(socket: Socket, bytes: Buffer): void {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  if (!socket.destroyed) socket.write(Buffer.concat([length, bytes]));
}
