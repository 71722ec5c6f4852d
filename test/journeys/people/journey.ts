import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { type CountingBrowser, comparePresses } from './presses.ts';

export interface JourneyScene {
  readonly sandbox: SandboxFile;
  readonly browser: CountingBrowser;
}

/** What a person comes for, across the apps, from the first press to its end. */
export interface Journey {
  readonly name: string;
  /** Of the screen where most of it happens, in pixels. */
  readonly width: number;
  /** Runs with `npm test`; the others with `npm run test:long`. */
  readonly quick?: boolean;
  run(scene: JourneyScene): Promise<void>;
}

export async function walk(journey: Journey, scene: JourneyScene): Promise<void> {
  scene.browser.startOver();
  await journey.run(scene);
  const { name, width } = journey;
  await comparePresses(name, { width, presses: scene.browser.pressed() });
}
