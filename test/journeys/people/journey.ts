import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { type CountingBrowser, compareClicks } from './clicks.ts';

export interface JourneyScene {
  readonly sandbox: SandboxFile;
  readonly browser: CountingBrowser;
}

/** A user's goal across the apps, from the first click to the result. */
export interface Journey {
  readonly name: string;
  /** Width in pixels of the screen on which most of the journey happens. */
  readonly width: number;
  /** True if the journey runs in `npm test`. The others run in `npm run test:long`. */
  readonly quick?: boolean;
  run(scene: JourneyScene): Promise<void>;
}

export async function runJourney(journey: Journey, scene: JourneyScene): Promise<void> {
  scene.browser.startOver();
  await journey.run(scene);
  const { name, width } = journey;
  await compareClicks(name, { width, clicks: scene.browser.clicked() });
}
