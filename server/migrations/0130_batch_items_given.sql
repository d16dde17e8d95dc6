-- What an import gives each asset: the values of fields by their ids; null removes a value (CSV-10).
alter table batch_items add column given jsonb;
