import type { Device, DeviceApi } from '../../data/device-api.ts';
import type { OfflineTill, OfflineView } from '../offline/offline-till.ts';
import type { Read, Unread } from '../reader/read-credential.ts';
import type { UsbState } from '../reader/usb-reader.ts';
import type { TillRunner, TillView } from '../till-runner.ts';
import type { Settings } from '../till-storage.ts';
import type { Catalogue } from './use-catalogue.ts';
import type { ChipPrompt } from './use-chip-asks.ts';
import type { Scanned } from './use-scanned-item.ts';

export interface TillContext {
  readonly api: DeviceApi;
  readonly runner: TillRunner;
  readonly view: TillView;
  /** `null` until the service has identified the terminal. */
  readonly device: Device | null;
  readonly settings: Settings;
  readonly readers: Readers;
  readonly catalogue: Catalogue;
  readonly scanned: Scanned;
  readonly offline: OfflineSelling;
  readonly change: (part: Partial<Settings>) => void;
}

export interface OfflineSelling {
  readonly view: OfflineView;
  /** Resolves to `null` if this till makes no offline sales. */
  readonly till: () => Promise<OfflineTill | null>;
}

export interface Readers {
  /** Called with the result of a reader, the camera or the menu of test passes. */
  readonly onRead: (read: Read) => void;
  /** The last item since this payment began that was not a pass; a new object for each read. */
  readonly unread: Unread | null;
  /** State of the USB reader on this computer, if one was added. */
  readonly usb: UsbState;
  /** True while a chip signs and the card must not be moved. */
  readonly signing: boolean;
  /** The input that the signing card needs from its holder. */
  readonly asked: ChipPrompt | null;
  /** Opens the browser's dialog for a card, if it needs one. Must be called from a click. */
  readonly holdCard: () => void;
}
