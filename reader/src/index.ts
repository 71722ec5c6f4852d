export { DeviceApi, type Intent } from './device-api.ts';
export { type ReaderEvent, watchReaders } from './pcsc/readers.ts';
export { PCSCD_SOCKET } from './pcsc/service.ts';
export { drawerBytes, type Ticket, ticketBytes } from './printing/escpos.ts';
export { CardGone, ProtocolError, type Transceive } from './protocols/apdu.ts';
export { openKey, signingKey } from './protocols/p256.ts';
export {
  type CollectorProof,
  collectorWithKey,
  type ProveCollector,
  type TapToProve,
} from './protocols/prove-collector.ts';
export {
  readTap,
  type Tap,
  type TapCredential,
  type ToSign,
  type Wallets,
} from './protocols/read-tap.ts';
export type { PassType } from './protocols/vas.ts';
export { type CardSettings, type Written, writeCard } from './protocols/write-card.ts';
export { runWithoutScreen, type TillEvent } from './reader-without-screen.ts';
