import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { SignInElsewhere } from '#apis/dashboard/authorize-person.ts';
import { askOthers, type CellSettings } from '#cells/ask-other-cells.ts';

/** What one cell sends to another to check a person's credentials. */
export const SignInSchema = Type.Object({
  realm: Type.Union([Type.Literal('merchant'), Type.Literal('operator')]),
  email: Type.String({ maxLength: 254 }),
  password: Type.String({ maxLength: 200 }),
  address: Type.String({ maxLength: 100 }),
  user_agent: Type.String({ maxLength: 1_000 }),
});
type AskedSignIn = Static<typeof SignInSchema>;
const WhereSchema = Type.Object({ url: Type.String() });

export function signInElsewhere(cells: CellSettings): SignInElsewhere {
  return async ({ realm, email, password, visit: { address, userAgent } }) => {
    const body: AskedSignIn = { realm, email, password, address, user_agent: userAgent };
    const answers = await askOthers(cells, { path: '/sign_ins', body });
    const urls = answers.flatMap(({ said }) => (Value.Check(WhereSchema, said) ? said.url : []));
    return urls[0] ?? null;
  };
}
