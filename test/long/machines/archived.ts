import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { blocksUnder, DOCS } from './guide.ts';
import { EXAMPLE_MOMENT } from './restore.ts';
import type { Undo } from './rig.ts';
import { type GuideMachine, openMachines } from './room.ts';
import { edit } from './service.ts';

/** One machine with a database and its archive, by docs/backup.md, which the drill can lose. */
export interface Archived {
  readonly url: string;
  backUp(): Promise<void>;
  /** Loses the machine, and restores its database to a moment. */
  restore(moment: string): Promise<void>;
}

export const PACKAGES = ['postgresql', 'pgbackrest'];
const CLUSTER = '15 tapline';
const DATA = `/var/lib/postgresql/${CLUSTER.replace(' ', '/')}`;
/** Shorter than the guide's, so that the drill need not wait a minute for the archive. */
const TIMEOUT = 'archive_timeout = 5';
const START = `pg_ctlcluster ${CLUSTER} start
while runuser -u postgres -- psql -tAc 'select pg_is_in_recovery()' | grep -q t; do sleep 1; done`;

const asPostgres = ({ type }: GuideMachine, commands: string) =>
  type(`runuser -u postgres -- bash -euc "$COMMANDS"`, { COMMANDS: `cd /tmp\n${commands}` });

export async function openArchived(undo: Undo): Promise<Archived> {
  const [machine] = await openMachines(['db1'], undo);
  assert(machine !== undefined);
  const guide = await readFile(path.join(DOCS, 'backup.md'), 'utf8');
  const settings = [...guide.matchAll(/`(archive_\w+ = [^`]+)`/g)].map(([, line = '']) => line);
  assert.equal(settings.length, 3, 'the guide names three settings of the archive');
  const [, restore = ''] = /`(pgbackrest [^`]* restore)`/.exec(guide) ?? [];
  assert(restore.includes(EXAMPLE_MOMENT), 'the restore names no moment');
  const [archive = ''] = await blocksUnder('backup.md', 'Set it up');
  await machine.type(`pg_dropcluster 15 main
    pg_createcluster ${CLUSTER} -- --data-checksums
    install -o postgres -m 0640 deploy/backup/pgbackrest.conf /etc/pgbackrest.conf
    sed -i 's/CHANGE-ME/a passphrase of the drill/' /etc/pgbackrest.conf
    install -d -o postgres /var/lib/pgbackrest`);
  const folder = `etc/postgresql/${CLUSTER.replace(' ', '/')}`;
  const own = [...settings, TIMEOUT, "listen_addresses = '*'", 'max_connections = 200'];
  await edit(machine, `${folder}/postgresql.conf`, (text) => [text, ...own, ''].join('\n'));
  await edit(machine, `${folder}/pg_hba.conf`, (text) => `${text}host all all 10.0.0.0/8 trust\n`);
  await machine.type(START);
  return {
    url: `postgresql://postgres@${machine.address}:5432/postgres`,
    backUp: async () => void (await asPostgres(machine, archive)),
    restore: async (moment) => {
      await machine.kill();
      await machine.type(`rm -r ${DATA}\ninstall -d -o postgres -m 0700 ${DATA}`);
      await asPostgres(machine, restore.replace(EXAMPLE_MOMENT, moment));
      await machine.type(START);
    },
  };
}
