// Under which licences the packages are that we install, and whether we may give away what we build with them.

import { type LockedPackage, type Lockfile, nameOf } from './lockfile.ts';

/** They ask for a notice at the most. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  // of fonts
  'OFL-1.1',
  'PSF-2.0',
  'Unlicense',
]);

/** They ask that changes to their own files stay open. We change none, and these run in tests only. */
const ALLOWED_IN_DEVELOPMENT = new Set(['MPL-2.0']);

/** `licenceOf`: what the installed package says of itself; undefined: it is not installed on this platform. */
export function licenceProblems(
  { packages }: Lockfile,
  licenceOf: (place: string) => string | undefined,
): string[] {
  return Object.entries(packages).flatMap(([place, locked]) => {
    if (place === '') return [];
    const installed = licenceOf(place);
    const licences = new Set([locked.license ?? '', ...(installed === undefined ? [] : [installed])]);
    return [...licences]
      .filter((licence) => !isAllowed(licence, locked))
      .map(
        (licence) =>
          `${nameOf(place)}: ${licence === '' ? 'no licence is named' : `the licence ${licence} is not on the list of checks/licences.ts`}`,
      );
  });
}

/** An SPDX expression: of alternatives one is enough, of what comes together each must be allowed. */
function isAllowed(expression: string, { dev = false }: LockedPackage): boolean {
  const alternatives = expression.replaceAll(/[()]/g, ' ').split(/\sOR\s/i);
  // Brackets around alternatives inside of what comes together would be read wrongly: rather not at all.
  if (/\sAND\s/i.test(expression) && alternatives.length > 1) return false;
  return alternatives.some((alternative) =>
    alternative
      .split(/\sAND\s/i)
      .map((id) => id.trim())
      .every((id) => ALLOWED.has(id) || (dev && ALLOWED_IN_DEVELOPMENT.has(id))),
  );
}
