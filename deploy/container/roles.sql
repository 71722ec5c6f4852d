-- Creates the service's two roles (docs/operate.md, section 3). The superuser runs it with psql 14
-- or newer, as often as necessary. Transfers a database that existed before the two roles to the
-- owner role.
\getenv owner_password OWNER_PASSWORD
\getenv app_password APP_PASSWORD

select format('create role %I login', name)
from unnest(array['tapline_owner', 'tapline_app']) as name
where not exists (select from pg_roles where rolname = name) \gexec
alter role tapline_owner password :'owner_password';
alter role tapline_app password :'app_password';
grant pg_monitor to tapline_owner;

select format('alter database %I owner to tapline_owner', current_database()) \gexec
alter schema public owner to tapline_owner;
select format('alter table %s owner to tapline_owner', oid::regclass)
from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
  and relowner <> 'tapline_owner'::regrole
  -- Excludes sequences of columns, whose owner changes with their table.
  and not exists (
    select from pg_depend d
    where d.classid = 'pg_class'::regclass and d.objid = pg_class.oid and d.deptype in ('a', 'i')
      and relkind = 'S') \gexec
select format('alter routine %s owner to tapline_owner', oid::regprocedure)
from pg_proc
where pronamespace = 'public'::regnamespace and proowner <> 'tapline_owner'::regrole \gexec
select format('alter type %s owner to tapline_owner', oid::regtype)
from pg_type
where typnamespace = 'public'::regnamespace and typowner <> 'tapline_owner'::regrole
  and typtype in ('e', 'd') \gexec

grant usage on schema public to tapline_app;
grant select, insert, update, delete on all tables in schema public to tapline_app;
grant usage on all sequences in schema public to tapline_app;
alter default privileges for role tapline_owner in schema public
  grant select, insert, update, delete on tables to tapline_app;
alter default privileges for role tapline_owner in schema public
  grant usage on sequences to tapline_app;
select 'revoke update, delete, truncate on audit_log from tapline_app'
where to_regclass('public.audit_log') is not null \gexec
