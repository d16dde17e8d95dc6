-- TEAM-16: what a member may do in the team.
alter table team_members add column role text not null default 'member'
  check (role in ('lead', 'member', 'contributor', 'viewer'));
create index team_members_leads on team_members (user_ref, team_id) where role = 'lead';

-- Cached capabilities contain those of leads.
create trigger team_members_lead_added after insert on team_members for each row
  when (new.role = 'lead') execute function advance_access_epoch();
create trigger team_members_lead_changed after update on team_members for each row
  when ((new.role = 'lead') is distinct from (old.role = 'lead')
    or (new.role = 'lead' and (new.user_ref, new.team_id) is distinct from (old.user_ref, old.team_id)))
  execute function advance_access_epoch();
create trigger team_members_lead_removed after delete on team_members for each row
  when (old.role = 'lead') execute function advance_access_epoch();
