// Every signal asks for the terms that hold: their version, without reading the texts.

export const newestTerms = `
create index if not exists terms_newest on terms (published_at, version);
`;
