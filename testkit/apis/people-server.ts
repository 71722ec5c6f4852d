import { randomBytes } from 'node:crypto';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import { meRoutes } from '#apis/dashboard/sessions/own-profile-routes.ts';
import { passwordRoutes } from '#apis/dashboard/sessions/password-routes.ts';
import { addMailPages } from '#apis/dashboard/sessions/person-link-page.ts';
import { sessionRoutes } from '#apis/dashboard/sessions/session-routes.ts';
import { signUpRoutes } from '#apis/dashboard/sessions/sign-up-routes.ts';
import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import { localWakeups, type Wakeups } from '#db/wakeups.ts';
import { memoryRateLimiter } from '#http/rate-limit.ts';
import type { Surface } from '#http/route.ts';
import { buildServer } from '#http/server.ts';
import { type Log, silentLog, stderrLog } from '#observability/log.ts';
import { type Mail, sendDueMails } from '#people/mail-outbox.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { watchMoves } from '#testkit/fixtures/db/moves-guard.ts';

export interface PeopleServer {
  readonly db: Database;
  readonly clock: FakeClock;
  readonly wakeups: Wakeups;
  readonly people: PeopleDeps;
  readonly origin: string;
  /** Base URLs of the two APIs. */
  readonly dashboard: string;
  readonly operator: string;
  /** Base URL of the pages. */
  readonly web: string;
  readonly mails: readonly Mail[];
  sendMails(): Promise<void>;
  /** Returns the token in the newest link that was mailed to this address. */
  mailedToken(to: string): Promise<string>;
  close(): Promise<void>;
}

export interface ServerContext {
  readonly people: PeopleDeps;
  readonly secretKey: Buffer;
  readonly merchant: SurfaceSettings;
  readonly operator: SurfaceSettings;
  readonly clock: FakeClock;
}

/** Logs internal errors. No test here should cause one. */
const FAULTS: Log = { ...silentLog, error: stderrLog().error };

const ORIGIN = 'http://localhost:4242';

function peopleSurfaces({ merchant, operator }: ServerContext): Surface[] {
  const common = (settings: SurfaceSettings) => [
    ...sessionRoutes(settings),
    ...passwordRoutes(settings),
    ...meRoutes(settings),
  ];
  return [
    personSurface(merchant, [...common(merchant), ...signUpRoutes(merchant)]),
    personSurface(operator, common(operator)),
  ];
}

function contextOf(
  server: Pick<PeopleServer, 'db' | 'wakeups' | 'clock'>,
  secretKey: Buffer,
  factorAgeMs: number,
): ServerContext {
  const { db, wakeups, clock } = server;
  const passkeys = { rpId: 'localhost', rpName: 'Tapline', origins: [ORIGIN] };
  const people: PeopleDeps = { db, wakeups, secretKey, webUrl: ORIGIN, factorAgeMs, passkeys };
  const settings = (realm: 'merchant' | 'operator') => ({
    people,
    cookies: { realm, secure: false },
    anyOwnHost: false,
  });
  const merchant = settings('merchant');
  return { people, secretKey, merchant, operator: settings('operator'), clock };
}

export interface PeopleServerOptions {
  readonly key?: Buffer;
  /**
   * Minimum age, in milliseconds, of a new second factor before it counts. Default: 0, as in a
   * sandbox.
   */
  readonly factorAgeMs?: number;
  /** Default: internal errors are logged. */
  readonly log?: Log;
}

/**
 * Starts the dashboard and operator APIs on a new database, with a clock that the test advances.
 * Without `surfaces`, serves only the routes for people and their sessions.
 */
export async function startPeopleServer(
  surfaces: (context: ServerContext) => readonly Surface[] = peopleSurfaces,
  given?: TestDatabase,
  { key = randomBytes(32), factorAgeMs = 0, log = FAULTS }: PeopleServerOptions = {},
): Promise<PeopleServer> {
  const database = given ?? (await testDatabase());
  const { db } = database;
  const clock = new FakeClock();
  const wakeups = localWakeups();
  const context = contextOf({ db, wakeups, clock }, key, factorAgeMs);
  const { people, secretKey } = context;
  const app = await buildServer({
    surfaces: surfaces(context),
    clock,
    limiter: memoryRateLimiter({ requests: 10_000, seconds: 1 }),
    log,
    trustedProxies: [],
    around: watchMoves,
  });
  addMailPages(app, people, clock);
  const root = await app.listen({ host: '127.0.0.1', port: 0 });
  const mails: Mail[] = [];
  const mailer = { send: async (mail: Mail) => void mails.push(mail) };
  const sendMails = async () => {
    while (await sendDueMails({ db, wakeups, clock, log: silentLog, secretKey, mailer }));
  };
  return {
    db,
    clock,
    wakeups,
    people,
    origin: ORIGIN,
    dashboard: `${root}/api/dashboard/v1`,
    operator: `${root}/api/operator/v1`,
    web: root,
    mails,
    sendMails,
    mailedToken: async (to) => {
      await sendMails();
      const mail = present(
        mails.findLast((sent) => sent.to === to && sent.text.includes('#token=')),
        `a mail to ${to}`,
      );
      return present(/#token=(\S+)/.exec(mail.text)?.[1], 'a link in the mail');
    },
    close: async () => {
      await app.close();
      await database.close();
    },
  };
}
