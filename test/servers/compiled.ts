// For programs that a test starts without its own environment. Compiling the service takes longer than starting it: where a run
// keeps what was compiled, they have it too.

const { NODE_COMPILE_CACHE: folder } = process.env;

export const COMPILED: Readonly<Record<string, string>> = folder ? { NODE_COMPILE_CACHE: folder } : {};
