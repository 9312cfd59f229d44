// The release that this version is upgraded from, and rolled back to. Here and nowhere else: a release sets it to the commit
// that was released, and SCHEMA to the number of its newest migration.

export const LAST_RELEASE = '7767dbae0a074a8e890aac969169a38b98b7d394';
export const SCHEMA = 13;
