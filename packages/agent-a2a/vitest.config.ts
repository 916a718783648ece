import { mergeConfig } from 'vitest/config';
import { project } from '../../vitest.shared.ts';

// Real sockets under a busy machine: a test that waits for them is slow, not wrong.
export default mergeConfig(project('agent-a2a'), { test: { testTimeout: 60_000 } });
