import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { keepSelling, type Sales, type SalesOptions } from '#testkit/fixtures/payments/sales.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import {
  type ChaosProcess,
  type ChaosRole,
  makeShop,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import { requireWhole } from './strikes.ts';

export type Undo = (() => unknown)[];

type Work = () => Promise<unknown>;
type OnFailure = SalesOptions['onFailure'];
type Customers = Omit<SalesOptions, 'shop' | 'onFailure'>;

interface TestOptions {
  readonly timeout?: number;
  /** Returns why this test is left out, or `null`. Later tests do not need it then. */
  readonly whyLeftOut?: () => Promise<string | null>;
}

/** The tests of one file, which share machines, chains, a ledger and a shop. */
export class Rig {
  /** Steps that the end of the file takes, the last one first. */
  readonly undo: Undo = [];
  db!: Database;
  ground!: ChaosGround;
  sandbox!: SandboxFile;
  private customers!: Customers;
  private why: string | null = null;

  /** @param open Opens what the tests share. Returns why that is impossible here, or `null`. */
  constructor(open: (rig: Rig) => Promise<string | null>) {
    before(async () => {
      this.why = await open(this);
    });
    after(async () => {
      for (const step of this.undo.reverse()) await step();
    });
  }

  /** Declares a test on which later ones depend. A text that it returns is reported. */
  step(name: string, work: Work, options?: TestOptions): void {
    const dependedOn = async () => {
      this.why = `"${name}" failed`;
      const said = await work();
      this.why = null;
      return said;
    };
    this.check(name, dependedOn, options);
  }

  /** Declares a test on which no other one depends. */
  check(name: string, work: Work, { timeout, whyLeftOut }: TestOptions = {}): void {
    test(name, timeout === undefined ? {} : { timeout }, async (t) => {
      const unneeded = this.why ?? (await whyLeftOut?.()) ?? null;
      if (unneeded !== null) return t.skip(unneeded);
      const said = await work();
      if (typeof said === 'string') t.diagnostic(said);
    });
  }

  /** Opens two chains. @param url A database of the machines, in place of the chains' own one. */
  async openGround(url: string | null, options?: Parameters<typeof openChaosGround>[0]) {
    this.ground = await openChaosGround(options);
    this.undo.push(this.ground.close);
    const { database } = this.ground;
    if (url !== null) {
      await database.stop();
      this.ground = { ...this.ground, database: { ...database, url, stop: async () => {} } };
    }
    this.db = openDatabase({ url: url ?? database.url, maxConnections: 3 });
    this.undo.push(this.db.close);
  }

  async openShop(customers: Customers): Promise<void> {
    this.customers = customers;
    this.sandbox = await makeShop(this.ground);
  }

  /** Starts these processes on this machine. @returns the API's URL of the next node. */
  async startNodes(
    roles: readonly ChaosRole[],
    { ground = this.ground, env = {} }: { ground?: ChaosGround; env?: Record<string, string> } = {},
  ): Promise<() => string> {
    const processes: ChaosProcess[] = [];
    for (const [index, role] of roles.entries()) {
      const one = await startChaosProcess(ground, { name: `${role} ${index + 1}`, role, env });
      this.undo.push(one.close);
      processes.push(one);
    }
    const urls = processes.flatMap(({ url }) => url ?? []);
    let turn = 0;
    return () => urls[turn++ % urls.length] ?? '';
  }

  /** Lets customers buy until the shop is stopped, by the end of the file at the latest. */
  sell(onFailure: OnFailure = 'repeat'): Sales {
    const shop = keepSelling({ ...this.customers, shop: this.sandbox.test, onFailure });
    this.undo.push(() => void shop.stop());
    return shop;
  }

  async sellFor(ms: number, onFailure?: OnFailure): Promise<Sales> {
    const shop = this.sell(onFailure);
    await sleep(ms);
    await shop.stop();
    return shop;
  }

  /** Compares ledger, shop and chain. `tolerated` is part of failures that are not the test's. */
  books(shop: Sales, tolerated?: string): Promise<void> {
    return requireWhole(this, shop, tolerated);
  }
}
