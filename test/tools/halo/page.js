// Runs in the page: the manufacturer's unmodified libhalo with an emulated chip.
import { execHaloCmdWeb } from '@arx-research/libhalo/api/web';
import { privateKeyToAccount } from 'viem/accounts';
import { haloChip } from '#counter/virtual-halo-chip.ts';
import { driverOf, Field } from '#counter/virtual-nfc-field.ts';

const field = new Field();
const Driver = driverOf(field);

/** The library sets `onreading`, which a plain EventTarget does not call. */
window.NDEFReader = class extends Driver {
  constructor() {
    super();
    this.addEventListener('reading', (event) => this.onreading?.(event));
    this.addEventListener('readingerror', (event) => this.onreadingerror?.(event));
  }
};

field.hold(haloChip(privateKeyToAccount(window.chipKey), 'https://example.com/'));
const options = { method: 'webnfc', statusCallback: () => {} };
window.halo = {
  run: (command) => execHaloCmdWeb(command, options),
};
