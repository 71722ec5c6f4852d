import type { TestWindow } from './browser.ts';
import { signInAt } from './desk.ts';
import { changeAnswers } from './network-faults.ts';
import type { Scene, Shot } from './shots.ts';

export interface Stage extends Scene {
  readonly window: TestWindow;
  /** Signs in at a page below `dashboard` and waits for its title. */
  open(path: string, title: string): Promise<void>;
  /** Overrides the service's response to a route. */
  change(route: string, changes: object): Promise<void>;
}

export function deskShot(name: string, lead: (stage: Stage) => Promise<void>): Shot {
  return {
    name,
    show: async (scene) => {
      const { sandbox, browser } = scene;
      const window = await browser.open();
      const open = async (path: string, title: string) => {
        await signInAt(window, { sandbox, path: `dashboard${path}` });
        await window.page.getByRole('heading', { name: title, level: 1 }).waitFor();
        await window.idle();
      };
      const change = (route: string, changes: object) =>
        changeAnswers(window.page, `**/api/dashboard/v1/accounts/*${route}`, (answer) => ({
          ...answer,
          ...changes,
        }));
      await lead({ ...scene, window, open, change });
      return window;
    },
  };
}

/** Takes a screenshot of a page right after it opens. */
export function pageShot(title: string, path: string): Shot {
  return deskShot(path.slice(1), ({ open }) => open(path, title));
}

/** Takes a screenshot of a page whose list is empty. */
export function emptyShot(title: string, path: string, route: string): Shot {
  return deskShot(`${path.slice(1)}-empty`, async ({ open, change }) => {
    await change(`/test/${route}*`, { data: [], has_more: false, next_cursor: null });
    await open(path, title);
  });
}

/** Takes a screenshot of a dialog that a button on a page opens. */
export function dialogShot(
  name: string,
  { path, title, button }: { path: string; title: string; button: RegExp },
): Shot {
  return deskShot(name, async ({ open, window: { page } }) => {
    await open(path, title);
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('dialog').waitFor();
  });
}

/** Shows live mode before the merchant has taken any go-live step. */
export async function showLive({ window, change }: Stage, kyb_status: string): Promise<void> {
  await change('', { kyb_status });
  await change('/live/go_live', { live: false, request: null });
  await window.page.addInitScript(() => localStorage.setItem('tapline dashboard mode', 'live'));
}
