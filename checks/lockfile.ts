// What is wrong with a lockfile, as far as it can be told without asking anybody: `npm ci` must take it on every platform that
// we name, and get the very same bytes there.

export interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Dependencies;
  readonly devDependencies?: Dependencies;
  readonly optionalDependencies?: Dependencies;
}

type Dependencies = Readonly<Record<string, string>>;

export interface Lockfile {
  /** By where it is installed; '' is our own package. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc?: string;
}

/** What our scripts run on: package.json brings its Node for each of them. */
export const PLATFORMS: readonly Platform[] = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { os: 'win32', cpu: 'x64' },
];

export const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 13);

export function lockfileProblems(lock: Lockfile, manifest: LockedPackage): string[] {
  return [
    ...differences(lock, manifest),
    ...Object.entries(lock.packages).flatMap(([place, locked]) => [
      ...(place === '' ? [] : contentProblems(place, locked)),
      ...neededProblems(lock, place, locked),
    ]),
  ];
}

function differences({ packages }: Lockfile, manifest: LockedPackage): string[] {
  const own = packages[''] ?? {};
  return (['dependencies', 'devDependencies', 'optionalDependencies'] as const)
    .filter((kind) => sorted(own[kind]) !== sorted(manifest[kind]))
    .map((kind) => `the ${kind} of package.json are not those of the lockfile`);
}

const sorted = (dependencies: Dependencies = {}): string =>
  JSON.stringify(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1)));

function contentProblems(place: string, { integrity, resolved }: LockedPackage): string[] {
  return [
    ...(integrity?.startsWith('sha512-') ? [] : [`${nameOf(place)} is not pinned by its content`]),
    // Whoever installs asks the registry of his own choice.
    ...(resolved === undefined ? [] : [`${nameOf(place)} names where it was downloaded from`]),
  ];
}

function neededProblems(lock: Lockfile, place: string, locked: LockedPackage): string[] {
  const { dependencies = {}, optionalDependencies = {} } = locked;
  const who = place === '' ? 'package.json' : nameOf(place);
  const needed = Object.entries({ ...dependencies, ...optionalDependencies });
  const missing = needed.flatMap(([name, version]) => {
    const found = find(lock, place, name);
    if (!found) return [`${who} needs ${name}, which is missing`];
    const isExact = /^\d/.test(version) && !version.includes(' ');
    return isExact && found.version !== version
      ? [`${who} needs ${name} ${version}, and the lockfile has ${found.version}`]
      : [];
  });
  return [...missing, ...platformProblems(lock, place, who, optionalDependencies)];
}

/** A package that comes in a variant for each platform has one for each of ours. */
function platformProblems(lock: Lockfile, place: string, who: string, optional: Dependencies): string[] {
  const variants = Object.keys(optional).flatMap((name) => find(lock, place, name) ?? []);
  const native = variants.filter(({ os, cpu }) => os !== undefined || cpu !== undefined);
  if (native.length < 2) return [];
  return PLATFORMS.filter((platform) => !native.some((variant) => fits(variant, platform))).map(
    ({ os, cpu }) => `${who} has nothing for ${os} on ${cpu}`,
  );
}

const fits = (variant: LockedPackage, { os, cpu, libc }: Platform): boolean =>
  (variant.os ?? [os]).includes(os) &&
  (variant.cpu ?? [cpu]).includes(cpu) &&
  (libc === undefined || (variant.libc ?? [libc]).includes(libc));

/** As Node looks for it: beside who asks, and then further out. */
function find({ packages }: Lockfile, place: string, name: string): LockedPackage | undefined {
  for (let at = place; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const found = packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`];
    if (found || at === '') return found;
    if (!at.includes('/node_modules/')) at = '';
  }
}
