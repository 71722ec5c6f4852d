import type { Page, Route } from 'playwright-core';

/** What a test does to the requests of a page that match; the service itself stays as it is. */
export interface Fault {
  /** How many requests it has met. */
  readonly met: number;
  /** Requests pass again; those that were held go on. */
  end(): Promise<void>;
}

type Meet = (route: Route) => Promise<void>;

async function meetRequests(page: Page, what: RegExp, meet: Meet): Promise<Fault> {
  let met = 0;
  const handler = async (route: Route) => {
    met++;
    // A page that was left meanwhile has no use for an answer.
    await meet(route).catch(() => {});
  };
  await page.route(what, handler);
  return {
    get met() {
      return met;
    },
    end: () => page.unroute(what, handler),
  };
}

/** The service does what it is asked; its answers never arrive. */
export function loseAnswers(page: Page, what: RegExp): Promise<Fault> {
  return meetRequests(page, what, async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
}

/** Requests never arrive, and the page is not told so in a way that it could rely on. */
export function loseRequests(page: Page, what: RegExp): Promise<Fault> {
  return meetRequests(page, what, (route) => route.abort('connectionreset'));
}

/** Requests wait until the fault ends. */
export async function holdRequests(page: Page, what: RegExp): Promise<Fault> {
  const held: Route[] = [];
  const fault = await meetRequests(page, what, async (route) => {
    held.push(route);
  });
  return {
    get met() {
      return fault.met;
    },
    end: async () => {
      await fault.end();
      for (const route of held) await route.continue().catch(() => {});
    },
  };
}

/** As a phone's browser does while its screen is off: nothing runs. */
export async function sleep(page: Page, ms: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await new Promise((resolve) => setTimeout(resolve, ms));
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await session.detach();
}
