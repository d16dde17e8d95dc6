-- The person of another peer whose comment the library of the post relayed, and the name of that person's library.
alter table comments
  add column relayed_for text check (char_length(relayed_for) <= 500),
  add column relayed_library text check (char_length(relayed_library) <= 200),
  add check ((relayed_for is null) = (relayed_library is null));
