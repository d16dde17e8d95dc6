-- The offset from UTC, in minutes, with which a time was written; null if none is known (VALUE-26). The time is shown
-- as it was read on the clock where it was taken.
alter table asset_field_values add column value_offset smallint check (value_offset between -899 and 899);
alter table collection_field_values add column value_offset smallint check (value_offset between -899 and 899);
