-- Which kinds of jobs a process takes; null: all.
alter table job_workers add column kinds text[];
