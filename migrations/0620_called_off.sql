-- Canceled by the shop before a pass was declined: not a failed payment, so no part of the success
-- rate. Of days and hours that were counted before, it is unknown and stays 0.
alter table statistics_days add column called_off integer not null default 0;
alter table statistics_hours add column called_off integer not null default 0;
