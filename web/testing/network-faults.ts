import type { Page, Route } from 'playwright-core';

/** Interferes with a page's requests that match a pattern. The service itself is unaffected. */
export interface Fault {
  /** The number of requests affected so far. */
  readonly met: number;
  /** Ends the fault: later requests pass, and held requests continue. */
  end(): Promise<void>;
}

type Meet = (route: Route) => Promise<void>;

async function meetRequests(page: Page, what: RegExp, meet: Meet): Promise<Fault> {
  let met = 0;
  let hasEnded = false;
  const meetOne = (route: Route) => {
    met++;
    return meet(route);
  };
  // The page may have closed and may no longer need the response.
  await page.route(what, (route) => (hasEnded ? route.fallback() : meetOne(route)).catch(() => {}));
  return {
    get met() {
      return met;
    },
    // Keeps the route: removing the last one stops the interception, and a request that the browser
    // makes at this moment, such as one for a part of the app, would never get a response.
    end: async () => {
      hasEnded = true;
    },
  };
}

/** Lets the service process the requests, but loses its responses. */
export function loseAnswers(page: Page, what: RegExp): Promise<Fault> {
  return meetRequests(page, what, async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
}

/** Loses the requests, which the page cannot distinguish from lost responses. */
export function loseRequests(page: Page, what: RegExp): Promise<Fault> {
  return meetRequests(page, what, (route) => route.abort('connectionreset'));
}

/** Holds requests until the fault ends. */
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

/** Changes the JSON in the service's responses to these requests. */
export async function changeAnswers<Answer extends object>(
  page: Page,
  what: string | RegExp,
  change: (answer: Answer) => object,
): Promise<void> {
  await page.route(what, async (route) => {
    try {
      const response = await route.fetch();
      await route.fulfill({ response, json: change(await response.json()) });
    } catch {
      // The window was closed while a request was in flight.
    }
  });
}

/** Freezes the page, as a phone does while its screen is off. */
export async function sleep(page: Page, ms: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await new Promise((resolve) => setTimeout(resolve, ms));
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await session.detach();
}
