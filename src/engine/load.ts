// Whether this thread has more to do than to wait.

/** The result tells how it was since it was last asked. */
export function loopLoad(): () => boolean {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization > 0.5;
  };
}
