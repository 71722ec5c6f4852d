-- The newest block that a recovery after a loss has read. A refund up to there belongs to the lost
-- time, whatever later recoveries show.
alter table network_recoveries add column lost_to bigint;
update network_recoveries set lost_to = greatest(compared_block, read_to) where loss_shown;
