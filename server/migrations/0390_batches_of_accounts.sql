-- Batches also change accounts (BATCH-13), which have refs in place of ids.
alter table batches drop constraint batches_subject_check;
alter table batches add constraint batches_subject_check check (subject in ('asset', 'post', 'user'));
alter table batch_items alter column object_id drop not null;
alter table batch_items add column object_ref bigint;
alter table batch_items add constraint batch_items_object_check check (num_nonnulls(object_id, object_ref) = 1);
