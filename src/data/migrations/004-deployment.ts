// What many processes must agree on.

export const deployment = `
create table facts (
  name text primary key,
  value text not null
);

-- whose worker it is that may send the user's orders: the last one that began
create table worker_owners (
  user_id {uuid} primary key,
  token text not null
);

-- the order in which orders were accepted, whatever the clocks of those who accepted them said
{acceptance}
`;
