// Loaded before Node's test runner. To know which test a call of `test` or an error without a catcher belongs to, the runner has a hook
// called for every promise that begins and ends, which makes tests of what waits much take twice as long. What a test is run in is known
// without it: its context goes along with all that it begins.

import hooks, { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

const { createHook, executionAsyncId } = hooks;
const DEAF: hooks.AsyncHook = { enable: () => DEAF, disable: () => DEAF };
/** The test that is run, by the id that the runner finds it by. */
const current = new AsyncLocalStorage<number>();

const isTest = (resource: AsyncResource): boolean => 'createSubtest' in resource;

// The runner takes both as it is loaded, and its own hook is the first one.
hooks.executionAsyncId = () => current.getStore() ?? executionAsyncId();
hooks.createHook = ({ init: note }) => {
  Object.assign(hooks, { createHook, executionAsyncId });
  const { runInAsyncScope } = AsyncResource.prototype;
  AsyncResource.prototype.runInAsyncScope = function <Result>(
    this: AsyncResource,
    task: (...given: unknown[]) => Result,
    that?: unknown,
    ...given: unknown[]
  ): Result {
    if (!isTest(this)) return runInAsyncScope.call(this, task, that, ...given) as Result;
    const id = this.asyncId();
    note?.(id, 'test', 0, this);
    return runInAsyncScope.call(this, () => current.run(id, () => task.apply(that, given))) as Result;
  };
  return DEAF;
};
