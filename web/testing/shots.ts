import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { TestBrowser, TestWindow } from './browser.ts';

/** Where a screen is made: a real sandbox, and windows of a real browser. */
export interface Scene {
  readonly sandbox: SandboxFile;
  readonly browser: TestBrowser;
}

/**
 * One screen that `npm run shots` photographs in every look. Each app lists its own in
 * `web/<app>/shots.ts`, exported as `SHOTS`; the command finds them there.
 */
export interface Shot {
  /** Lower case with hyphens: also the picture's name. */
  readonly name: string;
  /** Leads a window to what is to be seen, and gives it back as soon as it is there. */
  show(scene: Scene): Promise<TestWindow>;
}

export interface Look {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
  /** How large letters are, as people set it in their browser; default 100. */
  readonly textPercent?: number;
  /** The person's own colors instead of ours. */
  readonly forcedColors?: boolean;
  readonly onPaper?: boolean;
}

/** Every screen is looked at in these. */
export const LOOKS: readonly Look[] = [
  { name: 'phone', width: 390, height: 844, colorScheme: 'light' },
  { name: 'phone-dark', width: 390, height: 844, colorScheme: 'dark' },
  { name: 'desktop', width: 1280, height: 800, colorScheme: 'light' },
  { name: 'desktop-dark', width: 1280, height: 800, colorScheme: 'dark' },
  { name: 'phone-lying', width: 844, height: 390, colorScheme: 'light' },
  { name: 'tablet', width: 1180, height: 820, colorScheme: 'light' },
  { name: 'tablet-upright', width: 820, height: 1180, colorScheme: 'light' },
  { name: 'narrow', width: 320, height: 640, colorScheme: 'light' },
  { name: 'wide', width: 1440, height: 900, colorScheme: 'light' },
  { name: 'widest', width: 1920, height: 1080, colorScheme: 'light' },
  { name: 'text-200', width: 390, height: 844, colorScheme: 'light', textPercent: 200 },
  { name: 'forced-colors', width: 820, height: 1180, colorScheme: 'dark', forcedColors: true },
  { name: 'print', width: 794, height: 1123, colorScheme: 'light', onPaper: true },
  // What a desktop's browser has left at 200 %.
  { name: 'zoom-200', width: 640, height: 400, colorScheme: 'light' },
];

/** Names and texts as they come in life, at their worst. */
export const LONG_NAME =
  'Konditorei & Café Zur schönen Aussicht am Fluß, Inhaber Wołodymyr Nguyễn-Smith 3';
export const RIGHT_TO_LEFT_NAME = 'مقهى الباب الأزرق، شارع الملك فيصل';
