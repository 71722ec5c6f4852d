-- Terminals say which software they run, in which version; null: this one has never said so.
alter table terminals add column software_version text;
