import type { TestWindow } from './browser.ts';
import type { Stage } from './stage.ts';

/** The stage for screenshots: a real sandbox and a real browser. */
export type Scene = Stage;

/**
 * A screen of which `npm run shots` takes pictures in every look. Each app exports its screens as
 * `SHOTS` from `web/<app>/shots.ts`.
 */
export interface Shot {
  /** Lower case with hyphens; also the picture's file name. */
  readonly name: string;
  /** Opens the screen in a window, and returns the window once the content is visible. */
  show(scene: Scene): Promise<TestWindow>;
}

export interface Look {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
  /** The browser's font size in percent; default 100. */
  readonly textPercent?: number;
  readonly forcedColors?: boolean;
  readonly onPaper?: boolean;
}

/** The looks in which every screen is photographed. */
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
  // The viewport of a desktop browser at a zoom of 200 %.
  { name: 'zoom-200', width: 640, height: 400, colorScheme: 'light' },
];

/** Realistic worst-case names and texts. */
export const LONG_NAME =
  'Konditorei & Café Zur schönen Aussicht am Fluß, Inhaber Wołodymyr Nguyễn-Smith 3';
export const RIGHT_TO_LEFT_NAME = 'مقهى الباب الأزرق، شارع الملك فيصل';
