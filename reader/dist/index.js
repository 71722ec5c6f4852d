export { DeviceApi } from './device-api.js';
export { runWithoutScreen } from './headless.js';
export { watchReaders } from './pcsc/readers.js';
export { PCSCD_SOCKET } from './pcsc/service.js';
export { drawerBytes, ticketBytes } from './printing/escpos.js';
export { CardGone, ProtocolError } from './protocols/apdu.js';
export { openKey, signingKey } from './protocols/p256.js';
export { readTap, } from './protocols/tap.js';
export { writeCard } from './protocols/write-card.js';
