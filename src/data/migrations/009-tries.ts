// Who guesses is counted where nobody can make it be forgotten.

export const tries = `
-- the last ten tries of each, the newest first: a new one shifts them, and the tenth falls out
create table tries (
  subject text primary key,
  try_1 {time} not null,
  try_2 {time}, try_3 {time}, try_4 {time}, try_5 {time}, try_6 {time}, try_7 {time}, try_8 {time}, try_9 {time},
  try_10 {time}
);
create index tries_by_time on tries (try_1);
`;
