import { isLeased } from '../../src/testing/memory/memory-state.ts';
import { heartbeats } from '../../src/testing/store-contract/heartbeats.ts';
import { broken, noticed } from './mutant.ts';

noticed([...heartbeats], {
  'a heartbeat moves the version': broken('ownership', (real, state) => ({
    heartbeat: (leases, stop) => {
      for (const { rootRunId } of leases) {
        const root = state.roots.get(rootRunId);
        if (root) root.head.version += 1;
      }
      return real.heartbeat(leases, stop);
    },
  })),
  'a heartbeat extends nothing': broken('ownership', (real) => ({
    heartbeat: (leases, stop) =>
      real.heartbeat(
        leases.map((lease) => ({ ...lease, ttlMs: 0 })),
        stop,
      ),
  })),
  'a heartbeat compares only the fence': broken('ownership', (real, state) => ({
    heartbeat: (leases, stop) => {
      for (const { rootRunId, fence, owner } of leases) {
        const root = state.roots.get(rootRunId);
        if (root?.head.fence === fence) root.head.owner = owner;
      }
      return real.heartbeat(leases, stop);
    },
  })),
  'a heartbeat compares only the owner': broken('ownership', (real, state) => ({
    heartbeat: (leases, stop) =>
      real.heartbeat(
        leases.map((lease) => ({
          ...lease,
          fence: state.roots.get(lease.rootRunId)?.head.fence ?? 0,
        })),
        stop,
      ),
  })),
  'a heartbeat refuses a lease that ran out': broken('ownership', (real, state) => ({
    heartbeat: async (leases, stop) => {
      const late = leases.filter(({ rootRunId }) => {
        const root = state.roots.get(rootRunId);
        return root && !isLeased(root, state.clock.now());
      });
      const beat = await real.heartbeat(leases, stop);
      return { ...beat, lost: [...beat.lost, ...late.map(({ rootRunId }) => rootRunId)] };
    },
  })),
  'a heartbeat tells no signals': broken('ownership', (real) => ({
    heartbeat: async (leases, stop) => ({ ...(await real.heartbeat(leases, stop)), signalled: [] }),
  })),
  'a heartbeat tells signals that were read': broken('ownership', (real, state) => ({
    heartbeat: async (leases, stop) => {
      const beat = await real.heartbeat(leases, stop);
      const live = leases.map(({ rootRunId }) => rootRunId).filter((id) => !beat.lost.includes(id));
      return { ...beat, signalled: live.filter((id) => state.roots.get(id)?.inbox.signals.length) };
    },
  })),
});
