import assert from 'node:assert/strict';
import { isRefusal } from '#core/answer.ts';
import type { Database } from '#db/database.ts';
import { createOperator } from '#people/create-operator.ts';
import type { StaffRole } from '#people/user-queries.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { addFactorNow } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import type { TestWindow } from './browser.ts';
import { signInAt } from './desk.ts';

export type Person = SandboxFile['operator'];

/** Creates a staff member as the admin command does. */
export async function addStaff(
  db: Database,
  email: string,
  role: StaffRole = 'operator',
): Promise<Person> {
  const person = { email, password: 'a long staff passphrase' };
  const actor = { type: 'system', name: 'test' } as const;
  const named = { ...person, name: email.split('@')[0] ?? email };
  const made = await createOperator(db, { person: named, role, actor, now: new Date() });
  assert.ok(!isRefusal(made), JSON.stringify(made));
  return person;
}

/**
 * Signs a staff member in at a page below `operator` and sets up their second factor. Call it once
 * per person.
 */
export async function signInAsStaff(
  window: TestWindow,
  {
    sandbox,
    person = sandbox.operator,
    path = 'operator',
  }: { readonly sandbox: SandboxFile; readonly person?: Person; readonly path?: string },
): Promise<void> {
  await signInAt(window, { sandbox: { ...sandbox, operator: person }, path });
  const { cookies } = await window.context.storageState();
  const client = new PersonClient(`${sandbox.base_url}/operator/v1`);
  for (const { name, value } of cookies) client.cookies.set(name, value);
  await client.get('/session');
  await addFactorNow(client, person.password);
  const { hostname } = new URL(sandbox.web_url);
  const renewed = [...client.cookies].map(([name, value]) => {
    const known = cookies.find((cookie) => cookie.name === name);
    return { domain: hostname, path: '/', ...known, name, value };
  });
  await window.context.addCookies(renewed);
  await window.page.goto(`${sandbox.web_url}/${path}`);
}
