-- A person who was erased: the row stays, because other rows name its id, with nothing of the person
-- in it.
alter table users add column erased_at timestamptz(3);

-- What one person has done, for the export of that person's data.
create index audit_log_actor on audit_log ((actor ->> 'user'), created);
