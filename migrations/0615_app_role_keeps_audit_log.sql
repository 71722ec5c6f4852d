-- The role that serves (docs/operate.md, section 3) gets its rights on new tables by default, those
-- on the audit log too. It only adds to that: whoever makes the role before the first start no
-- longer has to take the rest away after it.
do $$
begin
  if exists (select from pg_roles where rolname = 'tapline_app') then
    revoke update, delete, truncate on audit_log from tapline_app;
  end if;
end
$$;
