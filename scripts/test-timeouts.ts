/**
 * How long every test may wait, in milliseconds. A virtual machine whose host is busy stands still for a minute or more:
 * nothing waits for longer than it must, and in CI, where nobody looks on, what such a minute has broken is tried again.
 */
export const TEST_TIMEOUTS = {
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 60_000 } },
  retry: process.env.CI === undefined ? 0 : 2,
} as const;
