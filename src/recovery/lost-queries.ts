import type { Tx } from '#db/database.ts';

/** Days whose figures may have changed are computed again when somebody asks for them. */
export async function forgetFigures(tx: Tx, livemode: boolean): Promise<void> {
  await tx.query(
    `delete from statistics_days d using network_recoveries r
     where r.livemode = $1 and d.livemode = $1 and d.day >= r.first_day`,
    [livemode],
  );
}

/**
 * Ends what may have been used, revoked or ended in the time that was lost: agent tokens, one-time
 * codes and links, sessions. Sessions and links of people are not of one network: all of them end.
 */
export async function endCredentials(
  tx: Tx,
  of: { readonly livemode: boolean; readonly before: Date; readonly now: Date },
): Promise<number> {
  const statements: readonly (readonly [string, readonly unknown[]])[] = [
    [
      `update agent_tokens set revoked_at = $3
       where livemode = $1 and created < $2 and revoked_at is null and expires_at > $3
       returning 1 as ended`,
      [of.livemode, of.before, of.now],
    ],
    [
      `delete from payer_sessions s using payers p
       where p.id = s.payer_id and p.livemode = $1 and s.created < $2 returning 1 as ended`,
      [of.livemode, of.before],
    ],
    [
      `delete from pairing_codes c using terminals t
       where t.id = c.terminal_id and t.livemode = $1 returning 1 as ended`,
      [of.livemode],
    ],
    ['delete from payer_nonces where created < $1 returning 1 as ended', [of.before]],
    ['delete from sessions where created < $1 returning 1 as ended', [of.before]],
    [
      `update email_tokens set used_at = $2 where created < $1 and used_at is null
       returning 1 as ended`,
      [of.before, of.now],
    ],
    ['delete from passkey_challenges returning 1 as ended', []],
  ];
  let ended = 0;
  for (const [text, values] of statements) ended += (await tx.query(text, values)).length;
  return ended;
}
