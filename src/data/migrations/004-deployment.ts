// What all processes of a deployment must agree on.

export const deployment = `
create table facts (
  name text primary key,
  value text not null
);
`;
