-- Boards are drawn in several steps, each saved on its own.
alter table whiteboards add column updated_at timestamp(3) with time zone;
update whiteboards set updated_at = created_at;
alter table whiteboards alter column updated_at set default now(), alter column updated_at set not null;
